#include "coldtrace/trace_analysis/code/needed_symbols.hpp"

#include <algorithm>
#include <tuple>

#include "coldtrace/core/printable.hpp"
#include "coldtrace/core/text.hpp"
#include "coldtrace/tracefile/names/event_stack.hpp"

namespace coldtrace::trace_analysis {
namespace {

using tracefile::Event;
using tracefile::FieldSchema;
using tracefile::OutType;

constexpr u8 performance_group = 0x0f;
constexpr u8 sampled = 46;
constexpr u8 stack_group = 0x18;
constexpr u8 first_key_definition = 34;  // KeyCreate, KeyDelete, KeyRundown
constexpr u8 last_key_definition = 36;
constexpr std::size_t most_message_pdbs = std::size_t{1} << 16U;

bool is_code(OutType out) {
  return out == OutType::code_pointer || out == OutType::stack_frame;
}

bool names_code(const std::vector<FieldSchema>& fields) {
  return std::any_of(fields.begin(), fields.end(), [](const FieldSchema& field) {
    return is_code(field.out) || names_code(field.members);
  });
}

std::string file_name(std::string_view path) {
  return core::to_valid_utf8(path.substr(path.find_last_of("\\/") + 1));
}

// What a key of cached stacks stands for counts where an event refers to it.
bool defines_key(const Event& event) {
  return event.kernel_group == stack_group && event.opcode >= first_key_definition &&
         event.opcode <= last_key_definition;
}

bool is_before(const CodeUse& a, const CodeUse& b) {
  return a.all() > b.all();
}

}  // namespace

void CodeUse::add(const CodeUse& other) {
  samples += other.samples;
  frames += other.frames;
  addresses += other.addresses;
}

// Tells of each address in the fields of an event.
class NeededSymbols::Visitor final : public tracefile::FieldVisitor {
 public:
  Visitor(NeededSymbols& symbols, const Event& event)
      : symbols_{symbols},
        event_{event},
        is_sample_{event.kernel_group == performance_group && event.opcode == sampled} {}

  void value(const FieldSchema& field, const tracefile::Value& value) override {
    if (!is_code(field.out) || value.number == 0) return;
    auto& use = symbols_.use_of(event_, value.number);
    ++(field.out == OutType::stack_frame ? use.frames : is_sample_ ? use.samples : use.addresses);
  }
  void begin_array(const FieldSchema&) override {}
  void end_array() override {}
  void begin_structure(const FieldSchema&) override {}
  void end_structure() override {}

 private:
  NeededSymbols& symbols_;
  const Event& event_;
  bool is_sample_;
};

NeededSymbols::NeededSymbols(core::Borrowed<tracefile::NameTables> names,
                             core::Borrowed<tracefile::SchemaSource> schemas)
    : names_{names.get()}, decoder_{schemas}, images_(names_.image_files().size()) {}

CodeUse& NeededSymbols::use_of(const Event& event, u64 address) {
  const auto image = names_.find_image(event.pid, address, event.name_time());
  if (image) return images_[image->file];
  return names_.find_method(event.pid, address, event.name_time()) ? methods_ : elsewhere_;
}

bool NeededSymbols::names_code(const tracefile::EventKind& kind) {
  const auto look = [&] {
    return kind.schema != nullptr && trace_analysis::names_code(kind.schema->fields);
  };
  if (!kind.kept) return look();
  if (kind.number >= kinds_.size()) kinds_.resize(kind.number + std::size_t{1});
  auto& known = kinds_[kind.number];
  if (known == 0) known = look() ? 1 : -1;
  return known > 0;
}

void NeededSymbols::add(const Event& event) {
  if (auto pdb = tracefile::find_message_pdb(event)) add_message_pdb(std::move(*pdb));
  tracefile::find_stack(event, names_.stacks(), stack_);
  for (const auto frame : stack_.frames)
    if (frame != 0) ++use_of(event, frame).frames;
  const auto& kind = decoder_.kind_of(event);
  if (!names_code(kind) || defines_key(event)) return;
  Visitor visitor{*this, event};
  decoder_.decode(event, kind, visitor);
}

void NeededSymbols::add_message_pdb(tracefile::MessagePdb pdb) {
  if (message_pdbs_.size() == most_message_pdbs) {
    ++left_out_;
    return;
  }
  message_pdbs_.insert({pdb.guid, pdb.age, std::move(pdb.name)});
}

std::vector<NeededPdb> NeededSymbols::pdbs() const {
  std::map<Identity, NeededPdb> found;
  const auto at = [&](Identity identity) -> NeededPdb& {
    auto& pdb = found[identity];
    pdb.guid = identity.guid;
    pdb.age = identity.age;
    pdb.name = std::move(identity.name);
    return pdb;
  };
  for (u32 i = 0; i < images_.size(); ++i) {
    const auto& image = names_.image_files()[i];
    if (image.pdb_guid == core::Guid{}) continue;
    auto& pdb = at({image.pdb_guid, image.pdb_age, file_name(image.pdb_name)});
    pdb.portable |= image.pdb_is_portable();
    pdb.images.push_back(i);
    pdb.use.add(images_[i]);
  }
  for (const auto& identity : message_pdbs_) at(identity).has_messages = true;
  std::vector<NeededPdb> sorted;
  for (auto& [identity, pdb] : found) sorted.push_back(std::move(pdb));
  std::stable_sort(sorted.begin(), sorted.end(), [](const NeededPdb& a, const NeededPdb& b) {
    return std::tuple{b.use.all(), std::string_view{a.name}} <
           std::tuple{a.use.all(), std::string_view{b.name}};
  });
  return sorted;
}

std::vector<UnnamedImage> NeededSymbols::images_without_pdb() const {
  std::vector<UnnamedImage> found;
  for (u32 i = 0; i < images_.size(); ++i)
    if (names_.image_files()[i].pdb_guid == core::Guid{}) found.push_back({i, images_[i]});
  std::stable_sort(found.begin(), found.end(), [](const UnnamedImage& a, const UnnamedImage& b) {
    return is_before(a.use, b.use);
  });
  return found;
}

bool is_file_name(std::string_view name) {
  constexpr std::size_t longest = 255;
  // U+FFFD stands for bytes of which the character is not known.
  return !name.empty() && name.size() <= longest && name != "." && name != ".." &&
         name.find("\ufffd") == name.npos && core::printable(name) == name;
}

NeededFiles used_files(NeededFiles named) {
  std::erase_if(named.pdbs,
                [](const NeededPdb& pdb) { return pdb.use.all() == 0 && !pdb.has_messages; });
  std::erase_if(named.images, [](const UnnamedImage& image) { return image.use.all() == 0; });
  return named;
}

void note_needed_files(const NeededFiles& files, bool named, bool by_time,
                       core::Findings& findings) {
  if (!files.pdbs.empty() || !files.images.empty()) return;
  findings.warning("no-match", std::nullopt, "{}{}",
                   named
                       ? "the trace does not say which images were loaded, nor which PDBs it needs"
                       : "the trace has no address in an image that it names, and names no PDB "
                         "with texts of messages",
                   by_time ? ", between --from and --to" : "");
}

void note_needed_symbols(const NeededSymbols& symbols, std::span<const NeededPdb> pdbs,
                         core::Findings& findings) {
  const auto odd =
      std::ranges::count_if(pdbs, [](const NeededPdb& pdb) { return !is_file_name(pdb.name); });
  if (odd > 0)
    findings.warning(
        "symbol-name", std::nullopt, "{} no path",
        core::counted(static_cast<u64>(odd), "PDB has a name that is not a file name; it has",
                      "PDBs have names that are not file names; they have"));
  if (symbols.left_out() > 0)
    findings.warning("symbol-limit", std::nullopt,
                     "the trace names more PDBs with texts of messages than are kept");
}

}  // namespace coldtrace::trace_analysis
