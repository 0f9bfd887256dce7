/*
 * What C89 does not have, in the forms of MSVC, GCC and Clang: 64-bit integers, inline functions,
 * 32-bit atomics, and the processor's cycle counter. Everything else in these headers is C89.
 */
#ifndef COLDTRACE_PLATFORM_H
#define COLDTRACE_PLATFORM_H

#if defined(__cplusplus) && defined(__GNUC__)
#pragma GCC system_header /* no warnings that only C++ has */
#endif

/* hook_table.h has this too: C89 allows a typedef only once. */
#ifndef COLDTRACE_INTEGERS
#define COLDTRACE_INTEGERS
#if defined(_MSC_VER)
typedef unsigned __int64 coldtrace_u64;
#elif defined(__GNUC__)
__extension__ typedef unsigned long long coldtrace_u64;
#endif
typedef unsigned char coldtrace_u8;
typedef unsigned short coldtrace_u16;
typedef unsigned int coldtrace_u32;
#endif

#if defined(_MSC_VER)

#define COLDTRACE_API static __inline

long _InterlockedCompareExchange(long volatile*, long, long);
long _InterlockedExchange(long volatile*, long);
long _InterlockedExchangeAdd(long volatile*, long);
#pragma intrinsic(_InterlockedCompareExchange, _InterlockedExchange, _InterlockedExchangeAdd)
#define COLDTRACE_CAS(place, expected, desired)                                        \
  ((unsigned int)_InterlockedCompareExchange((long volatile*)(place), (long)(desired), \
                                             (long)(expected)) == (unsigned int)(expected))
#define COLDTRACE_ADD(place, number) \
  ((void)_InterlockedExchangeAdd((long volatile*)(place), (long)(number)))
#define COLDTRACE_EXCHANGE(place, number) \
  ((unsigned int)_InterlockedExchange((long volatile*)(place), (long)(number)))
#define COLDTRACE_STORE(place, number) \
  ((void)_InterlockedExchange((long volatile*)(place), (long)(number)))
#if defined(_M_IX86) || defined(_M_X64)
/* A load of x86 acquires; the volatile keeps the compiler from moving it. */
void _ReadWriteBarrier(void);
unsigned __int64 __rdtsc(void);
#pragma intrinsic(_ReadWriteBarrier, __rdtsc)
COLDTRACE_API unsigned int coldtrace_load(unsigned int const volatile* place) {
  unsigned int number = *place;
  _ReadWriteBarrier();
  return number;
}
#define COLDTRACE_LOAD(place) coldtrace_load(place)
#define COLDTRACE_CYCLES() __rdtsc()
#else
#define COLDTRACE_LOAD(place) \
  ((unsigned int)_InterlockedCompareExchange((long volatile*)(place), 0, 0))
#endif

#else /* GCC and Clang */

#define COLDTRACE_API static __inline__ __attribute__((__unused__))

#define COLDTRACE_LOAD(place) __atomic_load_n((place), __ATOMIC_ACQUIRE)
#define COLDTRACE_STORE(place, number) __atomic_store_n((place), (number), __ATOMIC_RELEASE)
#define COLDTRACE_EXCHANGE(place, number) __atomic_exchange_n((place), (number), __ATOMIC_ACQ_REL)
#define COLDTRACE_ADD(place, number) ((void)__atomic_fetch_add((place), (number), __ATOMIC_ACQ_REL))
COLDTRACE_API int coldtrace_cas(unsigned int volatile* place, unsigned int expected,
                                unsigned int desired) {
  return __atomic_compare_exchange_n(place, &expected, desired, 0, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE);
}
#define COLDTRACE_CAS(place, expected, desired) coldtrace_cas((place), (expected), (desired))
#if defined(__i386__) || defined(__x86_64__)
#define COLDTRACE_CYCLES() __builtin_ia32_rdtsc()
#elif defined(__aarch64__)
COLDTRACE_API coldtrace_u64 coldtrace_counter(void) {
  coldtrace_u64 count;
  __asm__ __volatile__("mrs %0, cntvct_el0" : "=r"(count));
  return count;
}
#define COLDTRACE_CYCLES() coldtrace_counter()
#endif

#endif

#endif
