// SPDX-License-Identifier: Apache-2.0
#include "core/wire/methods.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"

namespace cordon::wire {
namespace {

constexpr std::array<std::string_view, 5> kNames = {"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25",
                                                    "2026-07-28"};

struct Row {
  std::string_view method = {};
  Direction direction = Direction::to_server;
  Form form = Form::request;
  Revision first = Revision::v2024_11_05;
  Revision last = Revision::v2026_07_28;
  Feature feature = Feature::base;
};

constexpr auto kOldest = Revision::v2024_11_05;
constexpr auto k06 = Revision::v2025_06_18;
constexpr auto k11 = Revision::v2025_11_25;
constexpr auto k26 = Revision::v2026_07_28;
constexpr auto kServer = Direction::to_server;
constexpr auto kClient = Direction::to_client;
constexpr auto kRequest = Form::request;
constexpr auto kNotification = Form::notification;

constexpr std::array kRows = std::to_array<Row>({
    {"initialize", kServer, kRequest, kOldest, k11, Feature::base},
    {"server/discover", kServer, kRequest, k26, k26, Feature::base},
    {"ping", kServer, kRequest, kOldest, k11, Feature::base},
    {"ping", kClient, kRequest, kOldest, k11, Feature::base},
    {"tools/list", kServer, kRequest, kOldest, k26, Feature::tools},
    {"tools/call", kServer, kRequest, kOldest, k26, Feature::tools},
    {"prompts/list", kServer, kRequest, kOldest, k26, Feature::prompts},
    {"prompts/get", kServer, kRequest, kOldest, k26, Feature::prompts},
    {"resources/list", kServer, kRequest, kOldest, k26, Feature::resources},
    {"resources/templates/list", kServer, kRequest, kOldest, k26, Feature::resources},
    {"resources/read", kServer, kRequest, kOldest, k26, Feature::resources},
    {"resources/subscribe", kServer, kRequest, kOldest, k11, Feature::resources},
    {"resources/unsubscribe", kServer, kRequest, kOldest, k11, Feature::resources},
    {"completion/complete", kServer, kRequest, kOldest, k26, Feature::completions},
    {"logging/setLevel", kServer, kRequest, kOldest, k11, Feature::logging},
    {"subscriptions/listen", kServer, kRequest, k26, k26, Feature::base},
    {"tasks/get", kServer, kRequest, k11, k26, Feature::tasks},
    {"tasks/result", kServer, kRequest, k11, k11, Feature::tasks},
    {"tasks/list", kServer, kRequest, k11, k11, Feature::tasks},
    {"tasks/cancel", kServer, kRequest, k11, k26, Feature::tasks},
    {"tasks/update", kServer, kRequest, k26, k26, Feature::tasks},
    {"roots/list", kClient, kRequest, kOldest, k11, Feature::roots},
    {"sampling/createMessage", kClient, kRequest, kOldest, k11, Feature::sampling},
    {"elicitation/create", kClient, kRequest, k06, k11, Feature::elicitation},

    {"notifications/initialized", kServer, kNotification, kOldest, k11, Feature::base},
    {"notifications/cancelled", kServer, kNotification, kOldest, k26, Feature::base},
    {"notifications/cancelled", kClient, kNotification, kOldest, k26, Feature::base},
    {"notifications/progress", kServer, kNotification, kOldest, k11, Feature::base},
    {"notifications/progress", kClient, kNotification, kOldest, k26, Feature::base},
    {"notifications/message", kClient, kNotification, kOldest, k26, Feature::logging},
    {"notifications/tools/list_changed", kClient, kNotification, kOldest, k26, Feature::tools},
    {"notifications/prompts/list_changed", kClient, kNotification, kOldest, k26, Feature::prompts},
    {"notifications/resources/list_changed", kClient, kNotification, kOldest, k26, Feature::resources},
    {"notifications/resources/updated", kClient, kNotification, kOldest, k26, Feature::resources},
    {"notifications/roots/list_changed", kServer, kNotification, kOldest, k11, Feature::roots},
    {"notifications/elicitation/complete", kClient, kNotification, k11, k11, Feature::elicitation},
    {"notifications/tasks/status", kServer, kNotification, k11, k11, Feature::tasks},
    {"notifications/tasks/status", kClient, kNotification, k11, k11, Feature::tasks},
    {"notifications/tasks", kClient, kNotification, k26, k26, Feature::tasks},
    {"notifications/subscriptions/acknowledged", kClient, kNotification, k26, k26, Feature::base},
});

}  // namespace

std::string_view name(Revision revision) { return kNames.at(static_cast<std::size_t>(revision)); }

std::optional<Revision> revision_from_name(std::string_view text) {
  const auto* found = std::ranges::find(kNames, text);
  if (found == kNames.end()) {
    return std::nullopt;
  }
  return static_cast<Revision>(found - kNames.begin());
}

std::optional<Feature> lookup(Revision revision, Direction direction, Form form, std::string_view method) {
  for (const Row& row : kRows) {
    if (row.direction == direction && row.form == form && row.first <= revision && revision <= row.last &&
        row.method == method) {
      return row.feature;
    }
  }
  return std::nullopt;
}

}  // namespace cordon::wire
