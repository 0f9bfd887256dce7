#pragma once

#include <string_view>

#include "coldtrace/core/integers.hpp"

namespace coldtrace::tracefile {

// "NDIS_STATUS_MEDIA_CONNECT"; empty for what the table does not have.
std::string_view find_ndis_status(u32 status);
// "OID_GEN_CURRENT_PACKET_FILTER".
std::string_view find_ndis_oid(u32 oid);

}  // namespace coldtrace::tracefile
