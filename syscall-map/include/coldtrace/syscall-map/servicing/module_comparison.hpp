#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/identity.hpp"
#include "coldtrace/syscall-map/image_role.hpp"
#include "coldtrace/syscall-map/service_table.hpp"
#include "coldtrace/syscall-map/servicing/api_set_comparison.hpp"
#include "coldtrace/syscall-map/servicing/export_comparison.hpp"
#include "coldtrace/syscall-map/servicing/import_comparison.hpp"
#include "coldtrace/syscall-map/servicing/trace_point_comparison.hpp"
#include "coldtrace/syscall-map/stubs/comparison.hpp"
#include "coldtrace/syscall-map/stubs/kernel_view.hpp"

namespace coldtrace::syscall_map {

// The place and length of a service table in one of two images.
struct ServiceTablePlace {
  pe::Rva rva{};
  TableForm form = TableForm::va32;
  u64 entries = 0;
  std::optional<pe::Rva> limit, arguments, descriptor;

  bool operator==(const ServiceTablePlace&) const = default;
};

// A service table that differs between the versions.
struct ServiceTableChange {
  std::string name;  // "KiServiceTable"
  std::optional<ServiceTablePlace> before, after;
};

// System calls from the stubs of two images.
struct StubComparison {
  u64 before = 0, after = 0;  // services
  Comparison services;
};

// The changes of a module by an update, except for its identity.
struct ModuleComparison {
  ExportComparison exports;
  ImportComparison imports;
  std::optional<StubComparison> services;  // nothing if neither image has stubs
  // For images whose role has such tables; nothing if neither has one.
  std::optional<std::vector<ServiceTableChange>> service_tables;
  std::optional<ApiSetComparison> api_sets;          // nothing if neither image has a schema
  std::optional<TracePointComparison> trace_points;  // of kernels
  core::Findings before, after;                      // of what was read of each image
};

// The members of the identities that differ, named as in JSON: "file_version", "pdb" and so on.
[[nodiscard]] std::vector<std::string_view> changed_identity(const pe::Identity& before,
                                                             const pe::Identity& after);

// `role` is that of both images, if they have one.
[[nodiscard]] ModuleComparison compare_modules(const KernelView& before, const KernelView& after,
                                               std::optional<ImageRole> role);

}  // namespace coldtrace::syscall_map
