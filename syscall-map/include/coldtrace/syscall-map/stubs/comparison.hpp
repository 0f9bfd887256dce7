#pragma once

#include <optional>
#include <string>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/syscall-map/stubs/service.hpp"

namespace coldtrace::syscall_map {

// How one service differs between two images.
struct ServiceChange {
  enum class Kind : u8 {
    inserted,  // only the second image has it
    removed,   // only the first has it
    moved,     // both have it, in a different order among its neighbours
    changed,   // same place, different stack bytes
  };
  Kind kind;
  ServiceTable table;
  std::string name;
  std::optional<u16> before;
  std::optional<u16> after;
  std::string detail;
};

// Services that follow each other in both images and are all renumbered by the same distance.
struct ServiceShift {
  ServiceTable table;
  u16 first_before;  // number of the first one in the first image
  u16 last_before;
  i32 distance;  // second minus first, not 0
  u64 count;
};

// Services added, removed and renumbered from one image to the next: both lists aligned by name, so
// that one inserted service is one change and one shift, not hundreds of renumbered services.
struct Comparison {
  std::vector<ServiceChange> changes;  // by number
  std::vector<ServiceShift> shifts;    // by number
  u64 common = 0;                      // services that both have
  u64 renumbered = 0;                  // of these, with another number

  [[nodiscard]] bool same() const { return changes.empty() && shifts.empty(); }
};

// Compares services by name (Nt for Zw); those without a name are ignored.
[[nodiscard]] Comparison compare_services(const std::vector<Service>& before,
                                          const std::vector<Service>& after);

// For an image with the headers of an earlier one, `first`: `image-twice` if the services are the
// same, otherwise `image-conflict`.
void note_copy(const std::vector<Service>& services_of_first, const std::vector<Service>& services,
               std::string_view first, core::Findings& findings);

}  // namespace coldtrace::syscall_map
