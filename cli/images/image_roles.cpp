#include "cli/images/image_roles.hpp"

#include "cli/output/output.hpp"
#include "coldtrace/syscall-map/hook-table/hook_table_builder.hpp"
#include "coldtrace/syscall-map/stubs/service_map.hpp"

namespace coldtrace::cli {
namespace {

using syscall_map::ImageRole;

std::string_view with_article(ImageRole role) {
  switch (role) {
    case ImageRole::kernel:
      return "a kernel";
    case ImageRole::ntdll:
      return "an ntdll";
    case ImageRole::win32u:
      return "a win32u";
    case ImageRole::win32k:
    case ImageRole::win32kbase:
    case ImageRole::win32kfull:
      return "a part of win32k";
  }
  return "another image";
}

}  // namespace

void require_role(const NamedImage& image, ImageRole role) {
  const auto own = syscall_map::find_image_role(image.identity);
  if (own && with_article(*own) != with_article(role))
    throw Failure{fmt::format("{}: it calls itself {}, so it is {}, not {}", image.path,
                              image.identity.name, with_article(*own), with_article(role))};
}

void require_stubs(const NamedImage& image, ImageRole role,
                   const std::vector<syscall_map::Service>& services) {
  using syscall_map::StubSide;
  const bool is_user = role == ImageRole::ntdll || role == ImageRole::win32u;
  if (!is_user && role != ImageRole::kernel) return;
  const auto wanted = is_user ? StubSide::user : StubSide::kernel;
  if (syscall_map::find_stub_side(services).value_or(wanted) != wanted)
    throw Failure{fmt::format("{}: its system call stubs are those of {}; it is not {}", image.path,
                              is_user ? "a kernel" : "an ntdll or win32u", with_article(role))};
}

void require_one_machine(const NamedImage& image, const NamedImage& other) {
  if (image.identity.machine != other.identity.machine)
    throw Failure{fmt::format("{}: it is for {}, but {} is for {}", image.path,
                              pe::to_string(image.identity.machine), other.path,
                              pe::to_string(other.identity.machine))};
}

}  // namespace coldtrace::cli
