#include "coldtrace/pe/patch_site.hpp"

namespace coldtrace::pe {
namespace {

struct RuleText {
  std::string_view name;
  std::string_view sentence;
};

constexpr RuleText texts[patch_rule_count] = {
    {"header_base",
     "ImageBase: since Windows Vista the loader writes the image's address there (observed)"},
    {"import_address",
     "import address table: the loader writes the addresses of imported functions (PE Format, "
     ".idata)"},
    {"delayed_import",
     "delay-load address table: written at the first call (PE Format, delay-load import tables)"},
    {"loader_pointer",
     "pointers to the loader's own functions that check calls (winnt.h, "
     "IMAGE_LOAD_CONFIG_DIRECTORY)"},
    {"security_cookie",
     "SecurityCookie: generated for each process (winnt.h, IMAGE_LOAD_CONFIG_DIRECTORY)"},
    {"tls_index", "AddressOfIndex: the loader writes the slot (PE Format, .tls section)"},
    {"lock_prefix",
     "LockPrefixTable: LOCK becomes NOP on machines with one processor (winnt.h, "
     "IMAGE_LOAD_CONFIG_DIRECTORY)"},
    {"import_call",
     "import optimisation and retpoline of the kernel: a call through a slot becomes a direct one "
     "(winnt.h, IMAGE_IMPORT_CONTROL_TRANSFER_DYNAMIC_RELOCATION)"},
    {"indirect_branch",
     "retpoline of the kernel: an indirect branch becomes a direct one to a thunk (winnt.h, "
     "IMAGE_INDIR_CONTROL_TRANSFER_DYNAMIC_RELOCATION)"},
    {"switch_branch",
     "retpoline of the kernel: the jump of a jump table becomes a direct one to a thunk (winnt.h, "
     "IMAGE_SWITCHTABLE_BRANCH_DYNAMIC_RELOCATION)"},
    {"dynamic_value",
     "addresses that the kernel chooses when it starts (winnt.h, IMAGE_DYNAMIC_RELOCATION)"},
    {"unread_relocation",
     "base relocations of a type that is not applied here (PE Format, .reloc section)"},
    {"service_row",
     "service table, compared row by row: an x64 kernel packs distance and argument count into "
     "each when it starts"},
};

}  // namespace

std::string_view to_string(PatchRule rule) {
  return texts[static_cast<std::size_t>(rule)].name;
}

std::string_view explain(PatchRule rule) {
  return texts[static_cast<std::size_t>(rule)].sentence;
}

}  // namespace coldtrace::pe
