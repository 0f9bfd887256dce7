/* How a driver traces with coldtrace/trace_writer.h: set up, log, flush, end. */
#include <coldtrace/trace_writer.h>

#define PROCESSORS 4
#define BUFFER_SIZE 65536

typedef struct writer {
  coldtrace_processor processors[PROCESSORS];
  coldtrace_buffer buffers[PROCESSORS][2];
  int (*to_file)(const void* bytes, coldtrace_u32 size); /* ZwWriteFile */
} writer;

/* `memory` is PROCESSORS * 2 * BUFFER_SIZE bytes of non-paged pool, zeroed; `system_time` calls
   KeQuerySystemTime. */
int start_trace(writer* trace, coldtrace_u8* memory, coldtrace_u64 (*system_time)(void*)) {
  coldtrace_clock clock;
  coldtrace_u16 i;
  clock.cycles = 0;
  clock.file_time = system_time;
  clock.context = 0;
  for (i = 0; i < PROCESSORS; ++i) {
    if (!coldtrace_start(&trace->processors[i], i, trace->buffers[i],
                         memory + (coldtrace_u32)i * 2 * BUFFER_SIZE, 2, BUFFER_SIZE, 0, &clock))
      return 0;
    coldtrace_close(&trace->processors[i], 1); /* a calibration pair for the start */
  }
  return 1;
}

/* wmk.schema: event ThreadEnd = 0x0207 { u32 process; u32 thread; u32 exit_status; } */
void log_thread_end(writer* trace, unsigned processor, const coldtrace_u32 ids[3]) {
  coldtrace_entry entry;
  coldtrace_u32* data =
      (coldtrace_u32*)coldtrace_reserve(&trace->processors[processor], 0x0207, 0, 12, &entry);
  if (!data) return; /* lost, and counted */
  data[0] = ids[0];
  data[1] = ids[1];
  data[2] = ids[2];
  coldtrace_commit(&entry);
}

/* Runs in the writer thread when a timer or a full buffer wakes it. */
void flush_trace(writer* trace) {
  coldtrace_chunk chunk;
  unsigned i;
  for (i = 0; i < PROCESSORS; ++i)
    while (coldtrace_take(&trace->processors[i], 0, &chunk) == COLDTRACE_TAKEN) {
      trace->to_file(chunk.bytes, chunk.size);
      coldtrace_release(&trace->processors[i], &chunk);
    }
}

/* After the hooks are gone; from a bugcheck callback too, where flush_trace may be cut short. */
void end_trace(writer* trace) {
  coldtrace_u8 end[COLDTRACE_BUFFER_HEADER_SIZE];
  coldtrace_chunk chunk;
  unsigned i;
  flush_trace(trace);
  for (i = 0; i < PROCESSORS; ++i)
    while (coldtrace_take(&trace->processors[i], 1, &chunk) == COLDTRACE_TAKEN)
      trace->to_file(chunk.bytes, chunk.size);
  coldtrace_file_end(end, 0, 0);
  trace->to_file(end, COLDTRACE_BUFFER_HEADER_SIZE);
}
