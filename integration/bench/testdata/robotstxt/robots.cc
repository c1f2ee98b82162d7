#include "robots.h"

namespace googlebot {

void ParseRobotsTxt(absl::string_view text, RobotsParseHandler* handler) {
  const absl::string_view key = "Disallow: ";
  for (size_t at = text.find(key); at != text.npos; at = text.find(key, at + 1)) {
    handler->HandleDisallow(0, text.substr(at + key.size()));
  }
}

bool RobotsMatcher::OneAgentAllowedByRobots(absl::string_view text,
                                            const std::string& agent,
                                            const std::string& url) {
  const std::string site = "https://example.com";
  const std::string group = "User-agent: " + agent + "\n";
  const std::string rule = "Disallow: " + url.substr(site.size()) + "\n";
  return text.find(group) == text.npos || text.find(rule) == text.npos;
}

}  // namespace googlebot
