// SPDX-License-Identifier: Apache-2.0
#pragma once
// Protocol names that several files need. Source: the published schema of each revision.

#include <string_view>

namespace cordon::wire {

inline constexpr std::string_view kMetaVersion = "io.modelcontextprotocol/protocolVersion";
inline constexpr std::string_view kMetaClientInfo = "io.modelcontextprotocol/clientInfo";
inline constexpr std::string_view kMetaClientCapabilities = "io.modelcontextprotocol/clientCapabilities";
inline constexpr std::string_view kMetaServerInfo = "io.modelcontextprotocol/serverInfo";
inline constexpr std::string_view kMetaRelatedTask = "io.modelcontextprotocol/related-task";
inline constexpr std::string_view kMetaImmediate = "io.modelcontextprotocol/model-immediate-response";
inline constexpr std::string_view kTasksExtension = "io.modelcontextprotocol/tasks";
inline constexpr std::string_view kMetaSubscription = "io.modelcontextprotocol/subscriptionId";

// Members under this prefix in any _meta are ours alone: what a peer sends there is removed.
inline constexpr std::string_view kOwnMetaPrefix = "dev.mcp-cordon/";
// Ids of requests that we make ourselves begin so; a client's request with such an id is refused.
inline constexpr std::string_view kOwnIdPrefix = "mcp-cordon/";

}  // namespace cordon::wire
