#include "tracefile/synthesis/disk.hpp"

namespace coldtrace::tracefile::synthesis {
namespace {

constexpr std::chrono::microseconds interrupt_time{4};
constexpr std::chrono::microseconds completion_time{15};
constexpr u64 interrupt_routine = 0xffff'f880'0120'1000;
constexpr u64 completion_routine = 0xffff'f880'0120'2000;
constexpr u8 disk_vector = 0x91;
constexpr u8 disk_increment = 1;  // IO_DISK_INCREMENT

constexpr u64 seek_time = 80'000;  // at most
constexpr u64 bytes_per_tick = 5;  // 50 MB a second

constexpr u64 first_irp = 0xffff'fa80'0200'0000;
constexpr u64 irps = 4096;  // an address is used again when no request has it any more

}  // namespace

void Disk::start(DispatcherObject& done, bool write, u64 offset, u32 bytes) {
  const u64 irp = first_irp + started_++ % irps * 0x200;
  done.reset();
  queue_.push_back({{state_.here->current, irp, write, offset, bytes, state_.now()}, &done});
  const auto& request = queue_.back().request;
  state_.tell(&MachineLog::disk_requested, state_.moment(), request);
  state_.accounts.disk_requested(request);
  if (queue_.size() == 1) serve();
}

// What follows the last request needs no seek.
u64 Disk::service_time(const DiskRequest& request) {
  const u64 seek = request.offset == head_ ? 0 : seek_time / 4 + state_.random.below(seek_time);
  head_ = request.offset + request.bytes;
  return seek + request.bytes / bytes_per_tick;
}

void Disk::serve() {
  const u64 end = state_.now() + service_time(queue_.front().request);
  state_.events.at(end, [this] {
    interrupts_.raise(state_.processors.front(), interrupt_routine, disk_vector, interrupt_time,
                      [this] {
                        interrupts_.queue(RoutineKind::deferred, completion_routine,
                                          completion_time, [this] { complete(); });
                      });
  });
}

void Disk::complete() {
  const auto [request, done] = queue_.front();
  queue_.pop_front();
  state_.tell(&MachineLog::disk_completed, state_.moment(), request);
  state_.accounts.disk_completed(state_.now(), request);
  done->set();
  waits_.signaled(*done, disk_increment);
  if (!queue_.empty()) serve();
}

}  // namespace coldtrace::tracefile::synthesis
