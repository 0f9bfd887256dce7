#pragma once

#include "tracefile/synthesis/actor.hpp"

namespace coldtrace::tracefile::synthesis {

// Each sets a machine up, lets its threads run, and returns when nothing can happen any more.
void play_producer_consumer(Machine& machine, u32 rounds);
void play_deadlock_of_2(Machine& machine, u32 rounds);
void play_deadlock_of_5(Machine& machine, u32 rounds);
void play_any_wait(Machine& machine, u32 rounds);
void play_priority_inversion(Machine& machine, u32 rounds);
void play_inversion_chain(Machine& machine, u32 rounds);
void play_lock_convoy(Machine& machine, u32 rounds);
void play_migration(Machine& machine, u32 rounds);
void play_boot(Machine& machine, u32 rounds);
void play_id_reuse(Machine& machine, u32 rounds);
void play_system_calls(Machine& machine, u32 rounds);
void play_server(Machine& machine, u32 rounds);
void play_vxd_services(Machine& machine, u32 rounds);
void play_disk_idle(Machine& machine, u32 rounds);
void play_disk_bursts(Machine& machine, u32 rounds);
void play_wrapped(Machine& machine, u32 rounds);
void play_losses(Machine& machine, u32 rounds);

// Explorer, whose one thread starts a program and goes on waiting for its user.
void start_from_shell(Machine& machine, const ProcessOptions& program, const Actor::Body& main);

}  // namespace coldtrace::tracefile::synthesis
