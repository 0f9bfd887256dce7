#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/core/integers.hpp"
#include "coldtrace/pe/loaded_file.hpp"

namespace coldtrace::syscall_map {

// Names of the services for which a trace has numbers or hashes, from maps of images. A hash is the
// same everywhere (hash_name), a number is not: only maps of the image with which the trace was
// made give names for numbers, since another table would give wrong ones.
class CallNames {
 public:
  // `traced` is what the trace says about the ntdll whose numbers it has; nothing if it says
  // nothing.
  explicit CallNames(std::optional<pe::LoadedFile> traced) : traced_{std::move(traced)} {}

  // The following services are from the map of this image.
  void begin(const pe::Identity& image);
  // One without a name is ignored. The first name of a number or a hash is kept.
  void add(u32 number, const std::string& name);

  [[nodiscard]] const std::map<u32, std::string>& by_number() const { return by_number_; }
  [[nodiscard]] const std::map<u32, std::string>& by_hash() const { return by_hash_; }

  // Reports that numbers have no names, and why: the finding `syscall-map-unmatched`.
  void report_unmatched(core::Findings& findings) const;

 private:
  std::optional<pe::LoadedFile> traced_;
  std::string image_;       // whose map it is
  bool is_traced_ = false;  // it is the image of the trace
  bool matched_ = false;    // one of the images was
  std::map<u32, std::string> by_number_, by_hash_;
};

}  // namespace coldtrace::syscall_map
