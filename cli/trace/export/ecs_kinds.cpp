#include "cli/trace/export/ecs_kinds.hpp"

namespace coldtrace::cli {
namespace {

// The first that fits counts. Source: Elastic Common Schema 8.17, "Categorization fields": the
// types that each category expects. `library` expects `start` alone, and `registry` no `info`; what
// is called Create opens as well.
constexpr EcsKind kinds[] = {{"Process/Start", "process", "start"},
                             {"Process/End", "process", "end"},
                             {"Process/DC*", "process", "info"},
                             {"Process/PerfCtr*", "process", "info"},
                             {"Process/*", "process", "change"},
                             {"Thread/*", "process", "info"},
                             {"Image/Load", "library", "start"},
                             {"Image/*", "library process", "info"},
                             {"FileIo/FileCreate", "file", "creation"},
                             {"FileIo/FileDelete", "file", "deletion"},
                             {"FileIo/Delete*", "file", "deletion"},
                             {"FileIo/Write*", "file", "change"},
                             {"FileIo/SetInfo*", "file", "change"},
                             {"FileIo/Rename*", "file", "change"},
                             {"FileIo/Name", "file", "info"},
                             {"FileIo/FileRundown", "file", "info"},
                             {"FileIo/MapFileDC*", "file", "info"},
                             {"FileIo/OperationEnd", "file", "info"},
                             {"FileIo/*", "file", "access"},
                             {"DiskIo/Write*", "file", "change"},
                             {"DiskIo/Flush*", "file", "change"},
                             {"DiskIo/*", "file", "access"},
                             {"Registry/KCBRundown*", "registry", ""},
                             {"Registry/RunDown", "registry", ""},
                             {"Registry/HiveDCEnd", "registry", ""},
                             {"Registry/Counters", "registry", ""},
                             {"Registry/Config", "registry", ""},
                             {"Registry/Delete*", "registry", "deletion"},
                             {"Registry/Set*", "registry", "change"},
                             {"Registry/*", "registry", "access"},
                             {"TcpIp/Connect*", "network", "start"},
                             {"TcpIp/Disconnect*", "network", "end"},
                             {"TcpIp/*", "network", "connection"},
                             {"UdpIp/*", "network", "connection"}};

}  // namespace

const EcsKind* find_ecs_kind(std::string_view name) {
  for (const auto& kind : kinds) {
    const bool front = kind.name.ends_with('*');
    if (front ? name.starts_with(kind.name.substr(0, kind.name.size() - 1)) : name == kind.name)
      return &kind;
  }
  return nullptr;
}

}  // namespace coldtrace::cli
