#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/loaded_file.hpp"

namespace coldtrace::syscall_map {

// Names of the services that a trace has numbers or hashes of, from maps of images. A hash is the
// same everywhere (hash_name), a number is not: only maps of the image that the trace was made with
// tell numbers, since a name of another table would be a wrong one.
class CallNames {
 public:
  // `traced` is what the trace says of the ntdll whose numbers it has; nothing where it says
  // nothing.
  explicit CallNames(std::optional<pe::LoadedFile> traced) : traced_{std::move(traced)} {}

  // What follows is of the map of this image.
  void begin(const pe::Identity& image);
  // One without a name tells nothing. The first name of a number or a hash stays.
  void add(u32 number, const std::string& name);

  [[nodiscard]] const std::map<u32, std::string>& by_number() const { return by_number_; }
  [[nodiscard]] const std::map<u32, std::string>& by_hash() const { return by_hash_; }

  // That numbers have no names, and why: the finding `syscall-map-unmatched`.
  void report_unmatched(core::Findings& findings) const;

 private:
  std::optional<pe::LoadedFile> traced_;
  std::string image_;       // whose map it is
  bool is_traced_ = false;  // it is the image of the trace
  bool matched_ = false;    // one of the images was
  std::map<u32, std::string> by_number_, by_hash_;
};

}  // namespace coldtrace::syscall_map
