#pragma once

#include <optional>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/tracefile/etl/trace_header.hpp"

namespace coldtrace::tracefile {

// Bytes of a buffer that are not events though some should be there.
struct BufferDamage {
  u32 offset;
  u32 size;  // up to the event that follows, or to the end
  core::ParseError error;
};

// How far a walk goes on in a damaged buffer.
enum class OnDamage : u8 {
  pass,            // to the end: all bytes are taken to be events, and filler is damage too
  pass_to_filler,  // the same, but only up to filler that continues to the end
  stop,            // or at any filler
};

// The events of one uncompressed buffer in order.
//
// After damage, the walk goes on at the next multiple of eight at which three records follow one
// another, none earlier than the one before it, or fewer up to the end if their times agree:
// anything else that looks like a header is part of a payload. An event whose Size includes others
// is damage, and the walk goes on with these; if that is not certain, it stays the event that it
// claims to be. A buffer damaged at `most_damage` places is not read further.
class BufferWalker {
 public:
  static constexpr std::size_t most_damage = 64;

  BufferWalker() = default;
  // `pointer_size` overrides that of the events if it is not 0.
  BufferWalker(core::BorrowedBytes bytes, const BufferContext& context, u32 offset,
               OnDamage on_damage, unsigned pointer_size = 0);

  // False at the end; event() is valid after true.
  bool next();
  [[nodiscard]] const Event& event() const { return event_; }
  // Where in event() bytes start that may be other events, up to its end.
  [[nodiscard]] std::optional<u32> uncertain_from() const { return uncertain_from_; }

  // The damage that next() has met so far, by offset.
  [[nodiscard]] const std::vector<BufferDamage>& damage() const { return damage_; }
  [[nodiscard]] u32 offset() const { return next_; }  // of what next() reads

 private:
  bool ends_at_filler() const;
  // Goes on at `resume`, if that is known.
  bool pass(const core::ParseError& error, std::optional<u32> resume = std::nullopt);
  bool resumes_at(u32 offset) const;

  core::ByteView bytes_;
  BufferContext context_{0, false, std::nullopt};
  u32 next_ = 0;
  u8 pointer_size_ = 0;
  OnDamage on_damage_ = OnDamage::stop;
  std::optional<i64> latest_;  // time of the events so far
  std::optional<u32> uncertain_from_;
  std::vector<BufferDamage> damage_;
  Event event_{};
};

}  // namespace coldtrace::tracefile
