/*
 * Writes coldtrace's own trace format (.ctrace) from a driver, or from anything else: freestanding
 * C without library calls, allocation or floating point. docs/formats/trace-format.md describes the
 * bytes.
 *
 * One coldtrace_processor per processor, each with 2 to 32 buffers of the caller's memory.
 *
 *   Event, at any IRQL:     data = coldtrace_reserve(processor, type, version, length, &entry);
 *                           if (data) { fill it; coldtrace_commit(&entry); }
 *   Writer thread:          while (coldtrace_take(processor, 0, &chunk) == COLDTRACE_TAKEN) {
 *                             write chunk.bytes, chunk.size;
 *                             coldtrace_release(processor, &chunk);
 *                           }
 *   Timer, and at the end:  coldtrace_close(processor, 0);
 *
 * Memory: processors, coldtrace_buffer arrays and buffers are resident (non-paged pool), 8-byte
 * aligned, and stay until the last event is committed. Buffers come zeroed.
 * IRQL: coldtrace_reserve, coldtrace_commit, coldtrace_write and coldtrace_close run at any IRQL,
 * interrupting each other, and on several processors at once; none of them waits. They touch no
 * memory except the above and the caller's data. coldtrace_take and coldtrace_release are called by
 * one thread at a time for a processor, at an IRQL where the writer can write; with `force` at any.
 * Stamps: a caller that may be moved to another processor between asking for the number of its
 * processor and coldtrace_reserve still writes a whole entry, with a stamp of the other processor.
 *
 * The language is C89 except for what platform.h has.
 */
#ifndef COLDTRACE_TRACE_WRITER_H
#define COLDTRACE_TRACE_WRITER_H

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC system_header /* no warnings that only C++ has */
#endif

#include "trace_file.h"

#define COLDTRACE_ENTRY_HEADER_SIZE 16 /* of an entry, before its data */
#define COLDTRACE_LEAST_BUFFER 128
#define COLDTRACE_MOST_BUFFER 0x1fffff8 /* 32 MiB - 8: 22 bits count units of 8 bytes */
/* Fewer than the 64 values of an entry's sequence mark, so that older entries can be told apart. */
#define COLDTRACE_MOST_BUFFERS 32
#define COLDTRACE_MOST_DATA 0xffffU

typedef struct coldtrace_clock {
  coldtrace_u64 (*cycles)(void* context);    /* null: the processor's own counter */
  coldtrace_u64 (*file_time)(void* context); /* UTC as FILETIME; null or 0: not known */
  void* context;
} coldtrace_clock;

typedef struct coldtrace_buffer {
  coldtrace_u8* bytes;
  coldtrace_u32 volatile state;     /* bits 0-1: COLDTRACE_FREE...; closed: units in use above */
  coldtrace_u32 volatile committed; /* units of committed entries */
  coldtrace_u32 volatile sequence;
  coldtrace_u64 cycles; /* the calibration pair, taken when the buffer was closed */
  coldtrace_u64 file_time;
} coldtrace_buffer;

typedef struct coldtrace_processor {
  /* Bits 0-21: units of the active buffer in use. Bits 22-31: its sequence number, whose low bits
     are its index. One word, so that one compare-and-swap decides who gets the room. */
  coldtrace_u32 volatile position;
  coldtrace_u32 volatile lost; /* events without room since the last buffer was taken */
  coldtrace_u32 capacity;      /* of a buffer, in units of 8 bytes, header included */
  coldtrace_u32 mask;          /* number of buffers minus 1 */
  coldtrace_u32 flags;         /* COLDTRACE_WRAP */
  coldtrace_u16 number;
  coldtrace_buffer* buffers;
  coldtrace_clock clock;
} coldtrace_processor;

/* A reserved entry, between coldtrace_reserve and coldtrace_commit. */
typedef struct coldtrace_entry {
  coldtrace_buffer* buffer;
  coldtrace_u32* word;
  coldtrace_u32 committed_word;
  coldtrace_u32 units;
} coldtrace_entry;

/* A buffer on its way to the file. */
typedef struct coldtrace_chunk {
  const coldtrace_u8* bytes;
  coldtrace_u32 size;
  coldtrace_u32 index;
} coldtrace_chunk;

enum { COLDTRACE_FREE = 0, COLDTRACE_ACTIVE = 1, COLDTRACE_CLOSED = 2, COLDTRACE_IN_USE = 3 };

/* What coldtrace_take returns. */
enum {
  COLDTRACE_NOTHING = 0, /* no buffer is closed */
  COLDTRACE_TAKEN = 1,
  COLDTRACE_BUSY = 2 /* the oldest closed buffer has entries that are not yet committed */
};

#define COLDTRACE_UNITS_BITS 22
#define COLDTRACE_UNITS_MASK 0x3fffffU
#define COLDTRACE_HEADER_UNITS 8U
#define COLDTRACE_RESERVED_MARK 0x40U /* of the entry's state byte; the sequence is below it */
#define COLDTRACE_COMMITTED_MARK 0x80U
#define COLDTRACE_SEQUENCE_MARK 0x3fU

COLDTRACE_API coldtrace_u64 coldtrace_stamp(const coldtrace_processor* processor) {
#if defined(COLDTRACE_CYCLES)
  if (!processor->clock.cycles) return COLDTRACE_CYCLES();
#endif
  return processor->clock.cycles(processor->clock.context);
}

/*
 * Sets up a processor before its first event. `memory` is count * size bytes; `count` is a power of
 * two from 2 to 32, `size` a multiple of 8 from COLDTRACE_LEAST_BUFFER to COLDTRACE_MOST_BUFFER.
 * 0 if they are not, or if there is no clock.
 */
COLDTRACE_API int coldtrace_start(coldtrace_processor* processor, coldtrace_u16 number,
                                  coldtrace_buffer* buffers, coldtrace_u8* memory,
                                  coldtrace_u32 count, coldtrace_u32 size, coldtrace_u32 flags,
                                  const coldtrace_clock* clock) {
  coldtrace_u32 i;
  if (count < 2 || count > COLDTRACE_MOST_BUFFERS || (count & (count - 1)) != 0) return 0;
  if (size < COLDTRACE_LEAST_BUFFER || size > COLDTRACE_MOST_BUFFER || (size & 7U) != 0) return 0;
#if !defined(COLDTRACE_CYCLES)
  if (!clock->cycles) return 0;
#endif
  processor->capacity = size / 8;
  processor->mask = count - 1;
  processor->flags = flags;
  processor->number = number;
  processor->buffers = buffers;
  processor->clock = *clock;
  for (i = 0; i < count; ++i) {
    buffers[i].bytes = memory + (coldtrace_u64)i * size;
    buffers[i].committed = 0;
    buffers[i].sequence = 0;
    buffers[i].cycles = 0;
    buffers[i].file_time = 0;
    buffers[i].state = i == 0 ? COLDTRACE_ACTIVE : COLDTRACE_FREE;
  }
  processor->lost = 0;
  COLDTRACE_STORE(&processor->position, COLDTRACE_HEADER_UNITS);
  return 1;
}

COLDTRACE_API int coldtrace_is_complete(const coldtrace_buffer* buffer, coldtrace_u32 units) {
  return COLDTRACE_LOAD(&buffer->committed) + COLDTRACE_HEADER_UNITS == units;
}

/* Gives up the oldest buffer, closed and complete, for new events. The gap in the sequence numbers
   tells the reader. */
COLDTRACE_API int coldtrace_drop(coldtrace_buffer* buffer, coldtrace_u32 state) {
  if ((state & 3U) != COLDTRACE_CLOSED || !coldtrace_is_complete(buffer, state >> 2)) return 0;
  if (!COLDTRACE_CAS(&buffer->state, state, COLDTRACE_IN_USE)) return 0;
  if (!coldtrace_is_complete(buffer, state >> 2)) { /* flushed and filled again in between */
    COLDTRACE_STORE(&buffer->state, state);
    return 0;
  }
  COLDTRACE_STORE(&buffer->committed, 0);
  COLDTRACE_STORE(&buffer->state, COLDTRACE_FREE);
  return 1;
}

/* Makes the next buffer the active one. 0 if there is none; 1 if it is worth trying again. */
COLDTRACE_API int coldtrace_switch(coldtrace_processor* processor, coldtrace_u32 position) {
  coldtrace_u32 generation = position >> COLDTRACE_UNITS_BITS;
  coldtrace_buffer* current = &processor->buffers[generation & processor->mask];
  coldtrace_buffer* next = &processor->buffers[(generation + 1) & processor->mask];
  coldtrace_u32 sequence;
  coldtrace_u32 state;
  /* A buffer that a switch interrupted by this one is still setting up stays. */
  if (COLDTRACE_LOAD(&current->state) != COLDTRACE_ACTIVE)
    return COLDTRACE_LOAD(&processor->position) != position;
  sequence = COLDTRACE_LOAD(&current->sequence);
  state = COLDTRACE_LOAD(&next->state);
  if (state != COLDTRACE_FREE &&
      (!(processor->flags & COLDTRACE_WRAP) || !coldtrace_drop(next, state)))
    return COLDTRACE_LOAD(&processor->position) != position;
  if (!COLDTRACE_CAS(&processor->position, position,
                     ((generation + 1) << COLDTRACE_UNITS_BITS) | COLDTRACE_HEADER_UNITS))
    return 1;
  COLDTRACE_STORE(&next->sequence, sequence + 1);
  current->cycles = coldtrace_stamp(processor);
  current->file_time =
      processor->clock.file_time ? processor->clock.file_time(processor->clock.context) : 0;
  COLDTRACE_STORE(&next->state, COLDTRACE_ACTIVE);
  COLDTRACE_STORE(&current->state, COLDTRACE_CLOSED | (position & COLDTRACE_UNITS_MASK) << 2);
  return 1;
}

/*
 * Room for `length` bytes of data, 8-byte aligned, or null if the event is lost. The entry must be
 * committed; one that never is keeps its buffer from the file until coldtrace_take is forced.
 * The stamp is read between reading the position and the swap, so that stamps of a buffer ascend:
 * if another caller was faster, this one reads its stamp again.
 */
COLDTRACE_API void* coldtrace_reserve(coldtrace_processor* processor, coldtrace_u16 type,
                                      coldtrace_u8 version, coldtrace_u32 length,
                                      coldtrace_entry* entry) {
  coldtrace_u32 units = 2 + (length + 7) / 8;
  coldtrace_u32 position;
  coldtrace_u32 used;
  coldtrace_u32 mark;
  coldtrace_u64 stamp;
  coldtrace_u8* at;
  if (length > COLDTRACE_MOST_DATA || units > processor->capacity - COLDTRACE_HEADER_UNITS) {
    COLDTRACE_ADD(&processor->lost, 1);
    return 0;
  }
  for (;;) {
    position = COLDTRACE_LOAD(&processor->position);
    used = position & COLDTRACE_UNITS_MASK;
    if (units > processor->capacity - used) {
      if (coldtrace_switch(processor, position)) continue;
      COLDTRACE_ADD(&processor->lost, 1);
      return 0;
    }
    stamp = coldtrace_stamp(processor);
    if (COLDTRACE_CAS(&processor->position, position, position + units)) break;
  }
  entry->buffer = &processor->buffers[(position >> COLDTRACE_UNITS_BITS) & processor->mask];
  at = entry->buffer->bytes + used * 8;
  mark = (position >> COLDTRACE_UNITS_BITS) & COLDTRACE_SEQUENCE_MARK;
  *(coldtrace_u64*)(void*)at = stamp;
  *(coldtrace_u32*)(void*)(at + 12) = length;
  /* No byte of an older entry remains behind the data. */
  if ((length & 7U) != 0) *(coldtrace_u64*)(void*)(at + units * 8 - 8) = 0;
  entry->word = (coldtrace_u32*)(void*)(at + 8);
  entry->units = units;
  entry->committed_word =
      type | (coldtrace_u32)version << 16 | (COLDTRACE_COMMITTED_MARK | mark) << 24;
  COLDTRACE_STORE(entry->word,
                  type | (coldtrace_u32)version << 16 | (COLDTRACE_RESERVED_MARK | mark) << 24);
  return at + COLDTRACE_ENTRY_HEADER_SIZE;
}

/* The entry is complete: from here on it will reach the file. */
COLDTRACE_API void coldtrace_commit(coldtrace_entry* entry) {
  COLDTRACE_STORE(entry->word, entry->committed_word);
  COLDTRACE_ADD(&entry->buffer->committed, entry->units);
}

/* Reserves, copies and commits. 0 if the event was lost. */
COLDTRACE_API int coldtrace_write(coldtrace_processor* processor, coldtrace_u16 type,
                                  coldtrace_u8 version, const void* data, coldtrace_u32 length) {
  coldtrace_entry entry;
  void* room = coldtrace_reserve(processor, type, version, length, &entry);
  if (!room) return 0;
  coldtrace_copy((coldtrace_u8*)room, data, length);
  coldtrace_commit(&entry);
  return 1;
}

/*
 * Closes the active buffer although it is not full, so that it can be taken. An empty buffer only
 * with `even_if_empty`: its calibration pair is worth writing at the start of a trace, once for
 * each processor. 0 if there is nothing to close, or if no other buffer is free.
 */
COLDTRACE_API int coldtrace_close(coldtrace_processor* processor, int even_if_empty) {
  coldtrace_u32 position;
  do {
    position = COLDTRACE_LOAD(&processor->position);
    if ((position & COLDTRACE_UNITS_MASK) == COLDTRACE_HEADER_UNITS && !even_if_empty) return 0;
    if (!coldtrace_switch(processor, position)) return 0;
  } while (COLDTRACE_LOAD(&processor->position) >> COLDTRACE_UNITS_BITS ==
           position >> COLDTRACE_UNITS_BITS);
  return 1;
}

/* Stops the active buffer where it is: the trace ends, or the system does. */
COLDTRACE_API coldtrace_u32 coldtrace_seal(coldtrace_processor* processor, coldtrace_u32* index) {
  coldtrace_u32 position;
  coldtrace_buffer* buffer;
  do {
    position = COLDTRACE_LOAD(&processor->position);
    *index = (position >> COLDTRACE_UNITS_BITS) & processor->mask;
    buffer = &processor->buffers[*index];
    if (COLDTRACE_LOAD(&buffer->state) != COLDTRACE_ACTIVE) return 0;
  } while (!COLDTRACE_CAS(&processor->position, position,
                          (position & ~COLDTRACE_UNITS_MASK) | processor->capacity));
  buffer->cycles = coldtrace_stamp(processor);
  buffer->file_time =
      processor->clock.file_time ? processor->clock.file_time(processor->clock.context) : 0;
  COLDTRACE_STORE(&buffer->state, COLDTRACE_IN_USE);
  return position & COLDTRACE_UNITS_MASK;
}

/* The oldest closed buffer, or -1. While an interrupt keeps a switch from closing its buffer, later
   ones wait, unless forced: then that buffer is a gap in the sequence numbers. */
COLDTRACE_API int coldtrace_oldest(coldtrace_processor* processor, int force,
                                   coldtrace_u32* least) {
  coldtrace_u32 i;
  coldtrace_u32 state;
  coldtrace_u32 sequence;
  int is_closed = 0;
  int oldest = -1;
  for (i = 0; i <= processor->mask; ++i) {
    state = COLDTRACE_LOAD(&processor->buffers[i].state) & 3U;
    if (state != COLDTRACE_CLOSED && (force || state != COLDTRACE_ACTIVE)) continue;
    sequence = COLDTRACE_LOAD(&processor->buffers[i].sequence);
    /* Sequence numbers may wrap: their distance counts. */
    if (oldest >= 0 && sequence - *least < 0x80000000U) continue;
    *least = sequence;
    is_closed = state == COLDTRACE_CLOSED;
    oldest = (int)i;
  }
  return is_closed ? oldest : -1;
}

/* Whether no buffer that could be taken comes before the sequence number. */
COLDTRACE_API int coldtrace_is_oldest(coldtrace_processor* processor, int force,
                                      coldtrace_u32 sequence) {
  coldtrace_u32 i;
  coldtrace_u32 state;
  for (i = 0; i <= processor->mask; ++i) {
    state = COLDTRACE_LOAD(&processor->buffers[i].state) & 3U;
    if (state != COLDTRACE_CLOSED && (force || state != COLDTRACE_ACTIVE)) continue;
    if (COLDTRACE_LOAD(&processor->buffers[i].sequence) - sequence >= 0x80000000U) return 0;
  }
  return 1;
}

/*
 * The oldest closed buffer as the file has it. `force` is for the end of the trace or of the
 * system: buffers with entries that are not committed are taken as they are, then the active one,
 * which ends the processor's trace.
 */
COLDTRACE_API int coldtrace_take(coldtrace_processor* processor, int force,
                                 coldtrace_chunk* chunk) {
  coldtrace_buffer* buffer;
  coldtrace_u32 sequence = 0;
  coldtrace_u32 state;
  coldtrace_u32 units;
  coldtrace_u32 flags;
  int oldest;
  for (;;) {
    oldest = coldtrace_oldest(processor, force, &sequence);
    if (oldest < 0) {
      if (!force) return COLDTRACE_NOTHING;
      units = coldtrace_seal(processor, &chunk->index);
      if (units == 0) return COLDTRACE_NOTHING;
      break;
    }
    chunk->index = (coldtrace_u32)oldest;
    buffer = &processor->buffers[oldest];
    state = COLDTRACE_LOAD(&buffer->state);
    units = state >> 2;
    if ((state & 3U) != COLDTRACE_CLOSED) continue;
    if (!force && !coldtrace_is_complete(buffer, units)) return COLDTRACE_BUSY;
    if (!COLDTRACE_CAS(&buffer->state, state, COLDTRACE_IN_USE)) continue;
    if (COLDTRACE_LOAD(&buffer->sequence) == sequence &&
        coldtrace_is_oldest(processor, force, sequence))
      break;
    /* Wrap-around went on while the buffers were examined. */
    COLDTRACE_STORE(&buffer->state, state);
  }
  buffer = &processor->buffers[chunk->index];
  flags = coldtrace_is_complete(buffer, units) ? 0 : 1U;
  chunk->bytes = buffer->bytes;
  chunk->size = units * 8;
  coldtrace_buffer_header(buffer->bytes, 0, processor->number, COLDTRACE_LOAD(&buffer->sequence),
                          chunk->size - COLDTRACE_BUFFER_HEADER_SIZE,
                          COLDTRACE_EXCHANGE(&processor->lost, 0U), buffer->cycles,
                          buffer->file_time);
  coldtrace_put32(buffer->bytes + 28, flags);
  coldtrace_put32(buffer->bytes + 8, coldtrace_crc32c(0, buffer->bytes, chunk->size));
  return COLDTRACE_TAKEN;
}

/* The buffer is in the file, and free again. 0 for the last one of the processor, and while an
   entry in it is not committed: whoever reserved it may still write. */
COLDTRACE_API int coldtrace_release(coldtrace_processor* processor, const coldtrace_chunk* chunk) {
  coldtrace_buffer* buffer = &processor->buffers[chunk->index];
  if (!coldtrace_is_complete(buffer, chunk->size / 8)) return 0;
  if ((COLDTRACE_LOAD(&processor->position) >> COLDTRACE_UNITS_BITS & processor->mask) ==
      chunk->index)
    return 0;
  COLDTRACE_STORE(&buffer->committed, 0);
  COLDTRACE_STORE(&buffer->state, COLDTRACE_FREE);
  return 1;
}

#endif
