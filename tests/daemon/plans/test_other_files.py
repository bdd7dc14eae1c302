"""Files in the form that ``tylerdavis/graph`` 0.12 reads: they load unchanged."""

from pathlib import Path

from midcourse.daemon.plans.files import LoadedPlan
from midcourse.daemon.plans.writing import as_text
from midcourse.domain.plan_file import written

# Comments among the steps, unindented lists, block texts with sections, camel case, defaults that are never
# given, servers, schemas of answers, gates in every form, bodies in every form.
WEEKLY = b"""\
# A plan in the older spelling.
identifier: weekly-review
name: weekly_review
description: Looks at the week's tickets; sorts them, asks where it has to, and reports. With `team` empty it
  takes them all.
exemplars:
- how was the week
requires_servers: [linear]
input_schema:
  type: object
  required: [team]
  properties:
    team: {type: string, description: The team, as linear names it}
    since: {type: string, default: -P7D}
steps:
- id: E0
  toolName: linear__list_issues
  input: {team: '{{input.team}}', since: '{{input.since}}', limit: 50, archived: no}
  reasoning: Everything else looks at these.
# Nothing to report is a success.
- id: E1
  tool_name: exit
  input:
    when: {op: empty, value: '{{E0.issues}}'}
    status: success
    message: nothing happened in {{input.team}}
    output: {reviewed: false}
- id: E2
  tool_name: filter
  input:
    over: '{{E0.issues}}'
    where: {value: '{{item.state}}', op: ne, to: done}
- id: E2b
  tool_name: filter
  input: {over: '{{E2.items}}', infer: 'Is {{item.title}} urgent?', model: judge, concurrency: 4}
- id: E3
  tool_name: map
  input:
    over: '{{E2b.items}}'
    concurrency: 8
    do:
      toolName: agent
      input:
        prompt: |-
          Find out why {{item.title}} is late.
          {{#E0.issues}}{{@index}}. {{title}} ({{state}})
          {{/E0.issues}}{{^E0.issues}}none{{/E0.issues}}
        tools: [linear__*]
        maxIterations: 12
        systemPrompt: Be brief.
        outputSchema:
          type: object
          required: [reason]
          properties:
            reason: {type: string}
- id: E4
  tool_name: reduce
  input:
    over: '{{E3.results}}'
    initial: {text: ''}
    do:
    - {id: E40, tool_name: user__append,
       input: {text: '{{accumulator.text}}', more: '{{item.output.reason}}'}}
- id: E5
  tool_name: ask
  input:
    prompt: Send it?
    output_schema: {type: object, properties: {send: {type: boolean}, to: {enum: [team, all]}}}
    whenUnanswered: default
    default: {send: false}
- id: E6
  tool_name: decide
  input:
    if: {value: '{{E5.answer.send}}', op: eq, to: true}
    then:
    - {id: E60, tool_name: linear__post, input: {text: '{{E4.result.text}}'}}
    - id: E61
      tool_name: exit
      input: {when: {value: '{{E60.url}}', op: not_empty}, status: success}
    else: {tool_name: plan__keep_note, input: {text: '{{E4.result.text}}'}}
- id: E7
  tool_name: plan_and_execute
  input: {query: 'What else? {{E6.branch}}'}
solver:
  queryToAnswer: How was the week of {{input.team}}?{{#E2b.items}} Mention {{title}}.{{/E2b.items}}
  systemPrompt: Three sentences.
  data: {issues: '{{E0.issues}}', open: '{{E2.count}}'}
"""


def test_it_loads_unchanged() -> None:
    loaded = LoadedPlan(Path("weekly.yaml"), WEEKLY)
    assert [str(each) for each in loaded.problems] == []
    assert loaded.plan is not None
    assert loaded.plan.steps[0].input["archived"] == "no"
    assert loaded.plan.input_schema is not None
    assert loaded.plan.input_schema["properties"]["since"]["default"] == "-P7D"


def test_it_is_written_in_one_spelling_and_means_the_same() -> None:
    plan = LoadedPlan(Path("weekly.yaml"), WEEKLY).plan
    assert plan is not None
    text = as_text(written(plan), Path("weekly.yaml"))
    assert [
        name for name in ("toolName", "queryToAnswer", "maxIterations", "outputSchema") if name in text
    ] == []
    again = LoadedPlan(Path("weekly.yaml"), text.encode()).plan
    assert again is not None
    assert written(again) == written(plan)
