#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "coldtrace/core/borrowed.hpp"
#include "coldtrace/core/findings.hpp"
#include "coldtrace/pe/image_tables.hpp"
#include "coldtrace/syscall-map/context_switch.hpp"
#include "coldtrace/syscall-map/signatures/signature_locator.hpp"
#include "coldtrace/syscall-map/trace-points/trace_point.hpp"

namespace coldtrace::syscall_map {

// The place of a function according to one source, with the evidence.
struct FunctionPlace {
  PlaceSource source = PlaceSource::none;
  pe::Rva rva{};
  std::vector<std::string> evidence;  // sentences
  bool verified = true;  // for service tables, signatures and structure: seen in a real file
  std::string symbol;    // of a PDB: the name as in the PDB, decorated
};

// Places from the code itself: where signatures match, and for the name of a context switch, where
// the stack is exchanged. Each name is looked for once.
class CodeSearch {
 public:
  // Both must outlive this.
  CodeSearch(core::Borrowed<pe::ImageTables> tables, core::BorrowedSpan<Signature> signatures)
      : tables_{tables.get()}, signatures_{signatures.get()} {}

  // Functions that can be found by a signature for the machine, or by structure.
  [[nodiscard]] std::vector<std::string_view> functions() const;

  struct Found {
    SignatureSearch signatures;
    std::vector<FunctionPlace> places;
  };
  // Where signatures and structure have the function; nowhere is an empty list. Valid as long as
  // this is.
  const Found& find(std::string_view function);

  // Reports that a search was abandoned.
  [[nodiscard]] const core::Findings& findings() const { return findings_; }

 private:
  void add_structure(std::string_view function, std::vector<FunctionPlace>& places);
  const std::vector<ContextSwitch>& context_switches();

  const pe::ImageTables& tables_;
  std::span<const Signature> signatures_;
  std::map<std::string, Found, std::less<>> found_;
  std::optional<ContextSwitchSearch> context_switches_;
  core::Findings findings_;
};

// The places of the first source that has any; `places` are in the order of the sources. If another
// source has the function elsewhere, that is a finding: `symbol-disagrees` if one of the two is the
// PDB, otherwise `sources-disagree`.
[[nodiscard]] std::span<const FunctionPlace> choose_places(std::span<const FunctionPlace> places,
                                                           std::string_view function,
                                                           core::Findings& findings);

// "export directory", "PDB".
[[nodiscard]] std::string_view in_words(PlaceSource source);

}  // namespace coldtrace::syscall_map
