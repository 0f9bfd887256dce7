#include "coldtrace/tracefile/etl/buffer_walker.hpp"

#include <algorithm>
#include <array>

#include "tracefile/etl/swallowed_records.hpp"

namespace coldtrace::tracefile {
namespace {

constexpr u32 alignment = 8;
constexpr u32 filler = 0xffffffff;  // behind a buffer's last event
constexpr unsigned records_that_agree = 3;

}  // namespace

BufferWalker::BufferWalker(core::BorrowedBytes bytes, const BufferContext& context, u32 offset,
                           OnDamage on_damage, unsigned pointer_size)
    : bytes_{bytes.get()},
      context_{context},
      next_{offset},
      pointer_size_{static_cast<u8>(pointer_size)},
      on_damage_{on_damage} {}

bool BufferWalker::ends_at_filler() const {
  if (on_damage_ != OnDamage::pass_to_filler) return on_damage_ == OnDamage::stop;
  const auto rest = bytes_.subspan(next_);
  return std::all_of(rest.begin(), rest.end(), [](std::byte b) { return b == std::byte{0xff}; });
}

bool BufferWalker::next() {
  const auto word = core::load<u32>(bytes_, next_);
  if (!word) return false;
  if (*word == filler) {
    if (ends_at_filler()) return false;
    return pass({core::Fault::bad_magic, place_of(context_, next_), "trace header", "Marker",
                 core::not_one_number, *word});
  }
  const auto before = event_.timestamp;
  const auto read = read_event(bytes_, next_, context_, event_);
  if (!read.ok) {
    event_.timestamp = before;
    return pass(read.error);
  }
  uncertain_from_.reset();
  if (on_damage_ != OnDamage::stop) {
    const auto inside = find_swallowed_records(bytes_, context_, event_, read.next, latest_);
    if (inside && inside->certain) {
      event_.timestamp = before;
      return pass({core::Fault::bad_value, place_of(context_, next_), "trace header", "Size",
                   inside->first - next_, event_.size},
                  inside->first);
    }
    if (inside) uncertain_from_ = inside->first - next_;
  }
  if (!event_.has_time) event_.timestamp = before;
  if (has_time_of_its_own(event_)) latest_ = event_.timestamp;
  if (pointer_size_ != 0) event_.pointer_size = pointer_size_;
  next_ = read.next;
  return true;
}

// Three records that follow one another, the first of which is none of the session's own; fewer up
// to the end when one of them has a time to check it by. Their extended data, which may be long, is
// looked at when all else agrees.
bool BufferWalker::resumes_at(u32 offset) const {
  auto latest = latest_;
  bool timed = false;
  std::array<u32, records_that_agree> records;
  unsigned count = 0;
  for (u32 at = offset; count < records_that_agree; ++count) {
    const auto word = core::load<u32>(bytes_, at);
    if (!word || *word == filler) break;
    Event event;
    const auto read = peek_event(bytes_, at, context_, event);
    if (!read.ok || (count == 0 && is_of_the_session(event))) return false;
    if (has_time_of_its_own(event)) {
      if (latest && event.timestamp < *latest) return false;
      latest = event.timestamp;
      timed = true;
    }
    records[count] = at;
    at = read.next;
  }
  if (count < records_that_agree && !timed) return false;
  return std::all_of(records.begin(), records.begin() + count, [&](u32 at) {
    Event event;
    return read_event(bytes_, at, context_, event).ok;
  });
}

bool BufferWalker::pass(const core::ParseError& error, std::optional<u32> resume) {
  const auto end = static_cast<u32>(bytes_.size());
  u32 at = end;
  if (on_damage_ != OnDamage::stop && damage_.size() + 1 < most_damage) {
    at = resume.value_or((next_ & ~(alignment - 1)) + alignment);
    while (!resume && at < end && !resumes_at(at)) at += alignment;
    at = std::min(at, end);
  }
  damage_.push_back({next_, at - next_, error});
  next_ = at;
  return next();
}

}  // namespace coldtrace::tracefile
