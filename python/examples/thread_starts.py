"""Which threads started, and when?    thread_starts.py TRACE"""
import sys

import coldtrace

# %% Events of one kind, selected before they are decoded
trace = coldtrace.open_trace(sys.argv[1])
for event in trace.events(where='name == "Thread/Start"'):
    print(event.timestamp, event.fields["ProcessId"], event.fields["TThreadId"])
