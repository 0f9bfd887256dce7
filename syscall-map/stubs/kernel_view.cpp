#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

#include "coldtrace/syscall-map/stubs/service_mapper.hpp"

namespace coldtrace::syscall_map {

const ServiceMap& KernelView::services() const {
  if (!services_) services_ = map_services(*this);
  return *services_;
}

}  // namespace coldtrace::syscall_map
