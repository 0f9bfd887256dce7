"""How many events does each provider have in a trace?    events_by_provider.py TRACE"""
import sys
from collections import Counter

import coldtrace

# %% Count
trace = coldtrace.open_trace(sys.argv[1])
counts = Counter(guid or "-" for (guid,) in trace.events(fields=["provider_guid"]))

# %% Most events first
for guid, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
    print(count, guid)
