#include "coldtrace/schema_files/module_messages.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "coldtrace/pe/resources.hpp"
#include "schema-files/schema_module.hpp"

namespace coldtrace::schema_files {

ModuleMessages::ModuleMessages(std::string module,
                               core::Borrowed<std::vector<std::string>> languages,
                               LanguageFolders& folders, core::Findings& findings)
    : module_{std::move(module)},
      languages_{languages.get()},
      folders_{folders},
      findings_{findings} {}

std::string ModuleMessages::find(u32 id) const {
  if (!is_read_) read();
  for (const auto& table : tables_) {
    const auto found = std::lower_bound(
        table.messages.begin(), table.messages.end(), id,
        [](const pe::Message& message, u32 wanted) { return message.id < wanted; });
    if (found == table.messages.end() || found->id != id) continue;
    auto text = pe::to_text(*found);
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
  }
  return {};
}

bool ModuleMessages::any() const {
  if (!is_read_) read();
  return !tables_.empty();
}

std::optional<bool> ModuleMessages::lacks_languages() const {
  if (tables_.empty()) return std::nullopt;
  return !LanguageFolders::is_in(language_file_, languages_);
}

void ModuleMessages::read() const {
  is_read_ = true;
  language_file_ = folders_.find(module_, languages_, findings_);
  if (!language_file_.empty()) read_table(language_file_);
  read_table(module_);
}

void ModuleMessages::read_table(const std::string& path) const {
  auto file = folders_.tree().open(path, largest_module);
  if (!file) {
    findings_.warning("schema-file", std::nullopt, "{}: {}", path, file.error());
    return;
  }
  core::Findings of_image;  // of what the messages are not in
  const auto image = pe::Image::open((*file)->view(), std::nullopt, of_image);
  if (!image) {
    findings_.warning("schema-file", std::nullopt, "{}: {}", path, image.error());
    return;
  }
  Table table{std::move(*file), {}};
  for (const auto& resource : pe::find_resources(*image, pe::resource_message_table, of_image)) {
    core::Findings of_table;
    std::vector<pe::Message> messages;
    if (resource.offset)
      messages = pe::read_message_table(resource.content(*image), *resource.offset, of_table);
    else
      of_table.warning("message-block", std::nullopt,
                       "the file stores nothing of its message table at RVA {:#x}",
                       value(resource.address));
    for (auto finding : of_table.all()) {
      // Those of the module have their place beside them, those of another file in the sentence.
      if (path != module_) {
        if (const auto at = std::exchange(finding.first_offset, std::nullopt))
          finding.text = fmt::format("at {:#x}: {}", *at, finding.text);
        finding.text = fmt::format("{}: {}", path, finding.text);
      }
      findings_.merge(std::move(finding));
    }
    table.messages.insert(table.messages.end(), messages.begin(), messages.end());
  }
  if (const auto* const unread = table.file->view().error())
    findings_.warning("schema-file", std::nullopt, "{}: {}", path, *unread);
  std::stable_sort(table.messages.begin(), table.messages.end(),
                   [](const auto& a, const auto& b) { return a.id < b.id; });
  if (!table.messages.empty()) tables_.push_back(std::move(table));
}

}  // namespace coldtrace::schema_files
