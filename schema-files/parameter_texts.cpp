#include "coldtrace/schema_files/parameter_texts.hpp"

namespace coldtrace::schema_files {

ParameterTexts::ParameterTexts(const std::vector<std::string>& files,
                               const std::vector<std::string>& languages,
                               core::Findings& findings) {
  for (const auto& file : files) {
    const auto& module = modules_.emplace_back(file, languages, folders_, findings);
    if (!module.any())
      findings.warning("schema-file", std::nullopt, "{}: it has no message table", file);
  }
}

std::string ParameterTexts::find(u32 id) const {
  const std::lock_guard lock{mutex_};
  for (const auto& module : modules_)
    if (auto text = module.find(id); !text.empty()) return text;
  return {};
}

}  // namespace coldtrace::schema_files
