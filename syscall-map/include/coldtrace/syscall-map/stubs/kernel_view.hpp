#pragma once

#include <optional>

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::syscall_map {

// What the searches of this library share of a kernel, or of another image of a build: its tables
// and its stubs, each read once, when it is first asked for. A view: the image outlives it. One
// thread at a time.
class KernelView : public pe::ImageTables {
 public:
  KernelView(const pe::Image& image) : ImageTables{image} {}  // NOLINT(*-explicit-*)
  explicit KernelView(pe::Image&&) = delete;

  // What map_services() says of the image.
  [[nodiscard]] const ServiceMap& services() const;

 private:
  mutable std::optional<ServiceMap> services_;
};

}  // namespace coldtrace::syscall_map
