"""What holds for all tests."""

import signal

# A job that a shell runs in the background ignores SIGINT, and so would every process the tests interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
