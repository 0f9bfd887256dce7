#include "coldtrace/tracefile/events/event_buffer.hpp"

namespace coldtrace::tracefile {

std::byte* Scratch::get(std::size_t size) {
  if (size > size_) {
    bytes_.reset(new std::byte[size]);  // not zeroed: it is filled
    size_ = size;
  }
  return bytes_.get();
}

}  // namespace coldtrace::tracefile
