// Times Google's parser and matcher of robots.txt, and asks them. It is compiled
// against a checkout of their library, of which nothing is kept here.
//
// Commands come on standard input, each answered by one line:
//
//	file BYTES, then so many bytes: what robots.txt reads from now on
//	agent BYTES, then so many bytes: who asks from now on
//	urls COUNT, then for each BYTES and so many bytes: what is asked for
//	ask: 1 if the first URL may be fetched, else 0
//	scan NANOSECONDS: reads the file again and again for so long with a handler
//	    that counts; nanoseconds of processor time an operation, and the rules
//	verdict NANOSECONDS: asks for one URL after the other; the same, and how
//	    often it was allowed

#include <time.h>

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "robots.h"

namespace {

// A clock that runs while this process computes, in nanoseconds.
int64_t Computed() {
  timespec t;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return int64_t{t.tv_sec} * 1000000000 + t.tv_nsec;
}

class Counter : public googlebot::RobotsParseHandler {
 public:
  int64_t rules = 0;

  void HandleRobotsStart() override {}
  void HandleRobotsEnd() override {}
  void HandleUserAgent(int, absl::string_view) override {}
  void HandleAllow(int, absl::string_view) override { rules++; }
  void HandleDisallow(int, absl::string_view) override { rules++; }
  void HandleSitemap(int, absl::string_view) override {}
  void HandleUnknownAction(int, absl::string_view,
                           absl::string_view) override {}
};

std::string ReadBytes() {
  size_t n = 0;
  std::cin >> n;
  std::cin.get();  // the end of the line
  std::string bytes(n, 0);
  std::cin.read(&bytes[0], n);
  return bytes;
}

// Repeats an operation for so long and prints what one took. The clock is read
// after twice as many operations each time.
template <typename Operation>
void Repeat(Operation operation) {
  int64_t duration = 0, done = 0, seen = 0, used = 0;
  std::cin >> duration;
  const int64_t start = Computed();
  for (int64_t batch = 1; used < duration; batch *= 2) {
    for (int64_t i = 0; i < batch; i++) seen += operation();
    done += batch;
    used = Computed() - start;
    // The last batch may not take much longer than what is left.
    while (batch > 1 && used + 2 * batch * (used / done) > duration * 5 / 4) {
      batch /= 2;
    }
  }
  std::cout << double(used) / double(done) << ' ' << seen << std::endl;
}

}  // namespace

int main() {
  std::ios::sync_with_stdio(false);
  std::string command, file, agent = "Googlebot";
  std::vector<std::string> urls = {"https://example.com/"};
  googlebot::RobotsMatcher matcher;  // as it is meant to be, used again
  while (std::cin >> command) {
    if (command == "file") {
      file = ReadBytes();
      std::cout << file.size() << std::endl;
    } else if (command == "agent") {
      agent = ReadBytes();
      std::cout << agent.size() << std::endl;
    } else if (command == "urls") {
      size_t count = 0;
      std::cin >> count;
      urls.clear();
      for (size_t i = 0; i < count; i++) urls.push_back(ReadBytes());
      std::cout << urls.size() << std::endl;
    } else if (command == "ask") {
      std::cout << matcher.OneAgentAllowedByRobots(file, agent, urls.at(0))
                << std::endl;
    } else if (command == "scan") {
      Repeat([&]() -> int64_t {
        Counter counter;
        googlebot::ParseRobotsTxt(file, &counter);
        return counter.rules;
      });
    } else if (command == "verdict") {
      size_t next = 0;
      Repeat([&]() -> int64_t {
        const std::string& url = urls[next];
        if (++next == urls.size()) next = 0;
        return matcher.OneAgentAllowedByRobots(file, agent, url);
      });
    } else {
      std::cerr << "no command " << command << std::endl;
      return 2;
    }
  }
}
