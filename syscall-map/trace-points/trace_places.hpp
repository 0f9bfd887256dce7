#pragma once

#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/hook_service.hpp"
#include "coldtrace/syscall-map/named_place.hpp"
#include "coldtrace/syscall-map/trace-points/function_places.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"
#include "syscall-map/code/instruction_boundary.hpp"

namespace coldtrace::syscall_map {

// What gives names to the code of a kernel, and places to names: its exports, the public symbols of
// its PDB, and its services, which have to outlive this. Used only inside this library.
class TracePlaces {
 public:
  TracePlaces(const pe::ImageTables& tables, const std::vector<NamedPlace>& symbols,
              const std::vector<HookService>& services);

  // Sets `source` and `rva` of the point from what was requested, or says why it cannot. Exports
  // take precedence over services, these over symbols, then signatures and structure; a
  // disagreement is a finding.
  void resolve(TracePoint& point, core::Findings& findings);

  // Where exports, services and symbols, in this order, have a function of this name.
  std::vector<FunctionPlace> find_named(std::string_view name) const;

  // "HAL.KfLowerIrql" if an export of this name leads to another image; else empty.
  std::string forwarder_of(std::string_view name) const;

  // The names of code and data, undecorated, as find_named() takes them.
  std::vector<std::string_view> names() const;

  // Those of them that name code, and those of `others`, that a glob matches, undecorated or as
  // they are.
  std::set<std::string> matching(std::string_view glob,
                                 std::span<const std::string_view> others) const;

  // Whether the requested name, if any, is found without the services.
  bool has_name(std::string_view requested) const;

  const CodeSearch& code() const { return code_; }

  std::vector<std::string> names_at(pe::Rva rva, core::Findings& findings) const;

  // The starts of all that lie in executable sections.
  std::vector<FunctionStart> starts() const;

 private:
  struct Name {
    std::string name;
    pe::Rva rva{};
    PlaceSource source = PlaceSource::none;
    const HookService* service = nullptr;  // of the service table
  };

  void add(Name name);
  bool is_function(const Name& name) const;
  static std::string_view plain_name(const Name& name);
  std::vector<std::string_view> function_names() const;
  std::string similar_names(std::string_view name);
  void find(std::string_view name, TracePoint& point, core::Findings& findings);
  void add_places(std::string_view name, PlaceSource source,
                  std::vector<FunctionPlace>& places) const;

  const pe::Image& image_;
  CodeSearch code_;
  std::vector<Name> names_;
  std::multimap<pe::Rva, std::size_t> by_place_;
  std::unordered_multimap<std::string, std::size_t> by_name_;  // as it is, and undecorated
  std::map<std::string, std::string> forwarders_;
  unsigned suggestions_left_ = 64;  // looking for similar names is slow
};

// A name, a name and an offset in bytes, or an RVA; nothing for anything else.
struct TraceRequest {
  std::string_view name;  // empty: the offset is an RVA
  u32 offset = 0;
};

std::optional<TraceRequest> parse_trace_request(std::string_view text);

}  // namespace coldtrace::syscall_map
