"""The configuration file, and the tools and planners it names."""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from midcourse import Budget, Limits, Settings
from midcourse.daemon.config import Config, find_config, load_config
from midcourse.daemon.errors import ConfigError
from midcourse.daemon.parts import load_parts
from midcourse.domain.authority import ApprovalRule, Authority, Rate, ReviewRule, ToolLimit

Call = Callable[..., Any]

SHOP = """
from midcourse import tool

@tool(effect="reversible", undo="release", identity=["sku"], idempotent=True)
async def reserve(sku: str) -> str:
    "Set a thing aside."
    return sku

@tool(idempotent=True)
async def release(sku: str) -> str:
    "Put it back."
    return sku

def pack(sku: str) -> str:
    return sku

def plan_order(context): ...

def look(about): ...

class Kit:
    def __init__(self, folder):
        self.tools, self.planners, self.folder = [reserve, release], {"orders": plan_order}, folder

    def close(self):
        (self.folder / "closed").touch()

def reserve_all(): ...

def make(*, folder, shelf=0):
    if shelf == 13:
        raise ValueError("no such shelf")
    return Kit(folder)

both = [reserve, release]
nothing = 5
tools_by_hand = Kit(None)
"""


@pytest.fixture(autouse=True)
def fresh_modules() -> Iterator[None]:
    """Every test imports its own modules from its own folder."""
    path = list(sys.path)
    yield
    sys.path[:] = path
    for name in ("shop", "broken", "hungry"):
        sys.modules.pop(name, None)


@pytest.fixture
def configured(tmp_path: Path) -> Callable[[str], Path]:
    (tmp_path / "shop.py").write_text(SHOP)

    def write(content: str) -> Path:
        file = tmp_path / "midcourse.toml"
        file.write_text(content)
        return file

    return write


def tools_of(file: Path) -> list[str]:
    with load_parts(load_config(file)) as parts:
        return [tool.name.removeprefix("user__") for tool in parts.tools]


def problems_of(file: Path) -> tuple[str, ...]:
    with pytest.raises(ConfigError) as caught:
        load_parts(load_config(file))
    assert str(caught.value).startswith(f"{file}: ")
    return caught.value.problems


@pytest.mark.parametrize(
    ("tools", "expected"),
    [
        ('["shop"]', ["reserve", "release"]),
        ('["shop:both"]', ["reserve", "release"]),
        ('["shop:reserve", "shop:release"]', ["reserve", "release"]),
        ('["shop:pack"]', ["pack"]),
        ('["shop:tools_by_hand"]', ["reserve", "release"]),
        ('[{ call = "shop:make" }]', ["reserve", "release"]),
        ('[{ call = "shop:make", with = { shelf = 3 } }, "shop:pack"]', ["reserve", "release", "pack"]),
        ("[]", []),
    ],
)
def test_what_tools_may_name(configured: Any, tools: str, expected: list[str]) -> None:
    assert tools_of(configured(f"tools = {tools}")) == expected


def test_planners(configured: Any) -> None:
    file = configured('tools = [{ call = "shop:make" }]\n[planners]\nmine = "shop:plan_order"')
    with load_parts(load_config(file)) as parts:
        assert sorted(parts.planners) == ["mine", "orders"]


def test_handlers_of_stuck_runs_keep_their_order(configured: Any) -> None:
    with load_parts(load_config(configured('[on_stuck]\nz = "shop:look"\na = "shop:look"\n'))) as parts:
        assert [*parts.on_stuck] == ["z", "a"]
        assert parts.catalog.on_stuck == ("z", "a")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('[on_stuck]\ndesk = "shop:nothing"\n', "is 5, which cannot be called"),
        ('[reviewers]\nq = "shop:look"\n[on_stuck]\nq = "shop:look"\n', "'q': the name is taken"),
    ],
)
def test_a_handler_that_cannot_be_asked_is_refused(configured: Any, content: str, problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        load_parts(load_config(configured(content)))


def test_reviewers(configured: Any) -> None:
    file = configured(
        'plan_reviewers = ["quality"]\n[reviewers]\nquality = "shop:look"\n'
        '[authority]\nreviews = [{ tool = "ship*", by = "quality" }]'
    )
    with load_parts(load_config(file)) as parts:
        assert (list(parts.reviewers), parts.plan_reviewers) == (["quality"], ("quality",))
        assert parts.catalog.reviewers == {"quality"}
        assert parts.authority.reviews == (ReviewRule(tool="ship*", by="quality"),)


def test_what_was_made_is_closed(configured: Any, tmp_path: Path) -> None:
    with load_parts(load_config(configured('tools = [{ call = "shop:make" }]'))):
        assert not (tmp_path / "closed").exists()
    assert (tmp_path / "closed").exists()


def test_the_authority_of_its_runs(configured: Any) -> None:
    file = configured(
        """
        [authority]
        deny = ["refund*"]
        approvals = [{ tool = "pay", when = "input.amount > 100" }]
        limits = [{ tool = "mail", at_once = 2, rate = { calls = 10, per_s = 60.0 } }]
        approvers = ["os:*"]
        """
    )
    assert load_config(file).authority == Authority(
        deny=("refund*",),
        approvals=(ApprovalRule(tool="pay", when="input.amount > 100"),),
        limits=(ToolLimit(tool="mail", at_once=2, rate=Rate(10, 60.0)),),
        approvers=("os:*",),
    )


def test_limits_policies_and_settings_are_those_of_the_file(configured: Any) -> None:
    file = configured(
        """
        [limits]
        replans = 2
        budgets = [{ steps = 5, then = "fail" }, { policy = "thrift" }]

        [engine]
        tool_threads = 4
        drain_s = 0.5

        [policies]
        thrift = "shop:plan_order"
        """
    )
    config = load_config(file)
    assert config.limits == Limits(replans=2, budgets=(Budget(steps=5, then="fail"), Budget(policy="thrift")))
    assert config.settings == Settings(tool_threads=4, drain_s=0.5)
    with load_parts(config) as parts:
        assert list(parts.policies) == ["thrift"]


def test_no_file_is_an_empty_configuration(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_config(None) == Config()


def test_a_file_that_was_named_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"none\.toml: cannot be read: No such file or directory"):
        find_config(str(tmp_path / "none.toml"))


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("store = ", "is not TOML: Invalid value (at end of document)"),
        (
            "stores = 'x'",
            (
                "stores: unknown key; allowed are store, tools, commands, http, packs, planners, reviewers, "
                "plan_reviewers, policies, on_stuck, authority, signals, limits, engine, plans"
            ),
        ),
        ("authority = 5", "authority: Expected `object`, got `int`"),
        ("authority = { denied = [] }", "authority: Object contains unknown field `denied`"),
        (
            "authority = { limits = [{ at_once = 0 }] }",
            "authority.limits[0].at_once: must be 1 or more, not 0",
        ),
        ("store = 5", "store: must be a text such as 'sqlite:///midcourse.db'"),
        ("tools = 'shop'", "tools: must be a list such as ['package.module']"),
        ("planners = ['shop']", "planners: must be a table such as name = 'package.module:planner'"),
        ("tools = [5]", "tools[0]: must name 'package.module' or 'package.module:name', not 5"),
        ("tools = ['shop:']", "tools[0]: must name 'package.module' or 'package.module:name', not 'shop:'"),
        ("tools = [{ call = 'shop' }]", "tools[0]: must name 'package.module:function', not 'shop'"),
        ("tools = [{ call = 'shop:make', width = 3 }]", "tools[0]: unknown width; allowed are call and with"),
        ("tools = [{ call = 'shop:make', with = 3 }]", "tools[0].with: must be a table of arguments"),
        ("tools = ['shop:none']",
         "tools[0]: module 'shop' has no 'none' (module 'shop' has no attribute 'none')"),
        ("tools = ['shop:nothing']", "tools[0]: 'shop:nothing' holds no tools and no planners"),
        ("tools = [{ call = 'shop:nothing' }]", "tools[0]: 'shop:nothing' is 5, which cannot be called"),
        ("tools = [{ call = 'shop:make', with = { shelf = 13 } }]",
         "tools[0]: 'shop:make' raised ValueError: no such shelf"),
        ("tools = [{ call = 'shop:reserve_all' }]",
         "tools[0]: 'shop:reserve_all' is called with folder=…; declare folder"),
        ("tools = ['broken']", "tools[0]: module 'broken' raised ZeroDivisionError: division by zero"),
        ("tools = ['hungry']", "tools[0]: module 'hungry' cannot be imported: No module named 'food'"),
        ("tools = ['shop', 'shop']", "tools: two tools are named 'user__reserve'; rename one of them"),
        ("planners.mine = 'shop:nothing'",
         "planners.mine: planner 'mine' is 5, neither a function nor a planner"),
        ("tools = [{ call = 'shop:make' }]\nplanners.orders = 'shop:plan_order'",
         "planners.orders: two planners are named 'orders'; rename one of them"),
        ("policies = ['shop']", "policies: must be a table such as name = 'package.module:policy'"),
        ("policies.thrift = 'shop:nothing'", "policies.thrift: policy 'thrift' is 5, which cannot be called"),
        ("limits.replan = 5", "limits.replan: unknown key (did you mean 'replans'?)"),
        ("limits.budgets = [{ steps = -1 }]",
         "limits.budgets[0]: budget: steps is -1; it is a number from 0 up"),
        ("limits.budgets = [{ then = 'fail' }]",
         ("limits.budgets[0]: a budget limits one of steps, replans, tokens, cost, wall_time_s, or names a "
          "policy; this one limits nothing")),
        ("limits.budgets = [{ step = 1 }]",
         "limits.budgets[0]: Object contains unknown field `step`"),
        ("engine.tool_thread = 4", "engine.tool_thread: unknown key (did you mean 'tool_threads'?)"),
        ("engine.tool_threads = 'x'", "engine.tool_threads: Expected `int`, got `str`"),
        ("engine.tool_threads = 0", "engine: tool_threads is 0; it is a whole number of 1 or more"),
        ("engine = 5", "engine: must be a table, not 5; write [engine] with its keys below"),
        ("reviewers = ['shop']", "reviewers: must be a table such as name = 'package.module:reviewer'"),
        ("reviewers.quality = 'shop:nothing'",
         "reviewers.quality: reviewer 'quality' is 5, which cannot be called"),
        ("plan_reviewers = 'quality'", "plan_reviewers: must be a list such as ['quality']"),
        ("plan_reviewers = ['quality']",
         "reviewers: plan reviewer 'quality' is not among the reviewers (there are: none)"),
        ("plan_reviewers = ['self']\nreviewers.self = 'shop:plan_order'\nplanners.mine = 'shop:plan_order'",
         "reviewers: planner 'mine' would review its own plans as 'self'"),
        ("authority.reviews = [{ tool = 'ship*', by = 'taste' }]",
         "reviewers: the rule for 'ship*' names the reviewer 'taste', who is none (there are: person)"),
        ("authority.reviews = [{ by = 'person', max_rounds = 0 }]",
         "authority.reviews[0].max_rounds: must be 1 or more, not 0"),
    ],
)  # fmt: skip
def test_a_problem_names_file_and_key(configured: Any, tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "broken.py").write_text("1 / 0")
    (tmp_path / "hungry.py").write_text("import food")
    assert problems_of(configured(content)) == (problem,)


TAKEN = (
    "cannot be the name of an argument; use letters, digits and '_', no digit first, not 'context', and no "
)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("args = { 'a-b' = 'string' }", f"args.a-b {TAKEN}"),
        ("args = { class = 'string' }", f"args.class {TAKEN}"),
        ("args = { context = 'string' }", f"args.context {TAKEN}"),
        ("args = { '' = 'string' }", f"args. {TAKEN}"),
        ("args = { n = { type = 'integer', default = 'few' } }", "default is 'few', which is no integer"),
        ("args = { n = { type = 'array', default = {} } }", "args.n.default is {}, which is no array;"),
        ("output_schema = { type = ['object', 5] }", "output_schema.type is no JSON Schema: "),
        ("retry = { factor = -1 }", "retry.factor is -1.0; it is a factor of 0 or above"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("kind", ["commands.it]\nargv = ['true']", "http.it]\nurl = 'https://example.com/'"])
def test_a_table_that_is_no_tool_is_told_by_its_key(
    configured: Any, kind: str, table: str, problem: str
) -> None:
    [told] = problems_of(configured(f"[{kind}\n{table}\n"))
    assert told.startswith(kind.partition("]")[0])
    assert problem in told


def test_a_default_that_fits_is_one(configured: Any) -> None:
    args = "a = { type = 'number', default = 2 }, b = { type = 'object', default = {} }"
    assert tools_of(configured(f"[commands.it]\nargv = ['true']\nargs = {{ {args} }}\n")) == ["it"]


def test_a_table_whose_name_is_none_is_told_so_without_the_program_around_it(configured: Any) -> None:
    [told] = problems_of(configured("[commands.a__b]\nargv = ['true']\n"))
    assert told == (
        "commands.a__b: a tool cannot be named 'a__b'; name it with letters, digits and single underscores "
        "(in Python by name=)"
    )


def test_a_module_that_is_not_there(configured: Any, tmp_path: Path) -> None:
    where = f"in {tmp_path} or among the installed packages"
    assert problems_of(configured("tools = ['shelf.tools']")) == (
        f"tools[0]: there is no module 'shelf' {where}",
    )


def test_all_problems_are_told_at_once(configured: Any) -> None:
    file = configured("store = 5\ntools = 'shop'\ncolour = 'red'")
    assert [problem.partition(":")[0] for problem in problems_of(file)] == ["colour", "store", "tools"]
    file = configured("tools = ['shop:none', 'shop:nothing']\nplanners.mine = 'shop:none'")
    assert [problem.partition(":")[0] for problem in problems_of(file)] == [
        "tools[0]",
        "tools[1]",
        "planners.mine",
    ]


def test_the_command_line_tells_them_with_code_2(call: Call, configured: Any) -> None:
    configured("store = 5\ntools = 'shop'")
    answer = call("tools", "list")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.splitlines() == [
        "Error: midcourse.toml: ",
        "  store: must be a text such as 'sqlite:///midcourse.db'",
        "  tools: must be a list such as ['package.module']",
    ]


def test_a_store_that_makes_no_sense_is_told_with_file_and_key(call: Call, configured: Any) -> None:
    configured("store = 'sqlite:orders'")
    answer = call("runs", "list")
    assert (answer.code, answer.out) == (2, "")
    assert answer.err.startswith("Error: midcourse.toml: store: ")
    assert not call("--store", "sqlite:orders", "runs", "list").err.startswith("Error: midcourse.toml")


def test_tools_list(call: Call, configured: Any) -> None:
    configured('tools = ["shop"]')
    answer = call("tools", "list")
    assert (answer.code, answer.err) == (0, "")
    assert answer.lines[0].split() == [
        "TOOL",
        "EFFECT",
        "UNDO",
        "IDEMPOTENT",
        "PROBE",
        "IDENTITY",
        "DESCRIPTION",
    ]
    assert [line.split()[:2] for line in answer.lines[1:]] == [
        ["release", "irreversible"],
        ["reserve", "reversible"],
    ]
    reserve = call("tools", "list", "--json").json[1]
    assert {
        name: reserve[name] for name in ("name", "effect", "undo", "idempotent", "probe", "identity")
    } == {
        "name": "user__reserve",
        "effect": "reversible",
        "undo": "user__release",
        "idempotent": True,
        "probe": False,
        "identity": ["sku"],
    }


def test_tools_list_without_tools_says_how_to_name_them(call: Call) -> None:
    answer = call("tools", "list")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err.startswith(
        "No tools; name the Python modules that have them in a file midcourse.toml here"
    )
    assert call("tools", "list", "--json").json == []


def test_everything_that_is_wrong_with_the_tables_of_tools_is_told_at_once(configured: Any) -> None:
    file = configured(
        """
        [commands.log]
        argv = ["git", "{{rev}}", "{{"]
        args = { class = "string", n = "text" }

        [http.look]
        url = "ftp://x"
        method = "GET"
        json = { a = "{{b}}" }
        max_bytes = 0
        """
    )
    assert [problem.partition(";")[0].partition(" (")[0] for problem in problems_of(file)] == [
        "commands.log: tool 'log': args.class cannot be the name of an argument",
        "commands.log: tool 'log': args.n is 'text'",
        "commands.log: tool 'log': '{{rev}}' reads 'rev', which is not in args",
        (
            "commands.log: tool 'log': '{{': template syntax error at line 1, column 1: "
            "a tag is opened but not closed"
        ),
        "http.look: tool 'look': url is 'ftp://x'",
        "http.look: tool 'look': a GET has no body",
        "http.look: tool 'look': max_bytes is 0",
        "http.look: tool 'look': {\"a\": \"{{b}}\"} reads 'b', which is not in args",
    ]
