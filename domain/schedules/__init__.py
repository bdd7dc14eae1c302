"""Schedules: what starts runs at the times that people set.

A schedule is a stream of facts of its own. ``decide`` answers a message with facts, ``orders`` says what a
state calls for; both change nothing. A due time is decided about once, in the order of time, and the run it
becomes is started under a key made of the schedule's name and the due time.

===========  ======================================================================
module       what it holds
===========  ======================================================================
timing       when a schedule falls due; the protocol of the calendar that knows
facts        what can happen to a schedule, and its terms
messages     what a schedule can be told
schedule     the state, and how each fact changes it
decide       every rule
terms        what comes from outside, checked
view         a schedule as people see it
spelling     what somebody may have meant
===========  ======================================================================
"""
