#include "coldtrace/syscall-map/stubs/call_names.hpp"

#include "coldtrace/syscall-map/stubs/name_hash.hpp"

namespace coldtrace::syscall_map {

void CallNames::begin(const pe::Identity& image) {
  is_traced_ = traced_ && pe::compare(image, *traced_) == pe::Likeness::same;
  matched_ |= is_traced_;
  image_ = image.name;
}

void CallNames::add(u32 number, const std::string& name) {
  if (name.empty()) return;
  if (is_traced_) by_number_.emplace(number, name);
  by_hash_.emplace(hash_name(hashed_name(name)), name);
}

void CallNames::report_unmatched(core::Findings& findings) const {
  if (!traced_)
    findings.warning(
        "syscall-map-unmatched", std::nullopt,
        "the trace does not say which image its system call numbers are from: none is named");
  else if (!matched_)
    findings.warning(
        "syscall-map-unmatched", std::nullopt,
        "{} is not the image that the trace's system call numbers are from: none is named",
        image_.empty() ? "the map" : image_);
}

}  // namespace coldtrace::syscall_map
