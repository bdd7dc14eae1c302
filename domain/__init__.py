"""The pure core: what a run is, which facts it is made of, and every rule of its behaviour.

Nothing here does I/O, reads a clock, draws a random number or knows asyncio.
"""
