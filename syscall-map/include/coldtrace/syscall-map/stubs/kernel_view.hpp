#pragma once

#include <optional>

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::syscall_map {

// The tables and stubs of a kernel, or of another image of a build, shared by the searches of this
// library: each is read once, on first use. A view: the image must outlive it. One thread at a
// time.
class KernelView : public pe::ImageTables {
 public:
  KernelView(const pe::Image& image) : ImageTables{image} {}  // NOLINT(*-explicit-*)
  explicit KernelView(pe::Image&&) = delete;

  // The result of map_services() for the image.
  [[nodiscard]] const ServiceMap& services() const;

 private:
  mutable std::optional<ServiceMap> services_;
};

}  // namespace coldtrace::syscall_map
