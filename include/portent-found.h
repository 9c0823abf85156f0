/*
 * What Portent has found in this process so far, for test frameworks that show it under the name of a test. C++11 and later; needs
 * no library. portent-gtest.h and portent-catch2.h use it.
 *
 * A program that was built with `portent cc` looks for races, deadlocks and wrong lifetimes by itself, and writes what it finds to a
 * file, the moment it finds it, when it is started with
 *
 *   PORTENT_OPTIONS=races=1:deadlocks=1:log_path=FILE ./tests
 *
 * FILE.PID is read here. Not under `portent run`, whose process writes the reports a little later.
 */
#ifndef PORTENT_FOUND_H
#define PORTENT_FOUND_H

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <string>

#include <unistd.h>

namespace portent
{

/* Reads on where it stopped the last time. */
class found
{
  public:
    found()
    {
        const char *options = std::getenv("PORTENT_OPTIONS");
        std::string text = options ? options : "";
        std::string::size_type at = text.find("log_path=");
        if (at == std::string::npos || std::getenv("PORTENT_CHANNEL"))
            return;
        std::string value = text.substr(at + 9);
        char quote = value.empty() ? 0 : value[0];
        if (quote == '\'' || quote == '"')
            value = value.substr(1, value.find(quote, 1) - 1);
        else
            value = value.substr(0, value.find_first_of(": "));
        if (value != "stderr" && value != "stdout")
            path_ = value + "." + std::to_string(getpid());
    }

    /* Whether there is a file to read. */
    bool can_tell() const
    {
        return !path_.empty();
    }

    /* The reports since the last call; "": nothing was found. */
    std::string news()
    {
        std::ifstream file(path_, std::ios::binary);
        std::ostringstream text;
        if (path_.empty() || !file || !file.seekg(at_))
            return "";
        text << file.rdbuf();
        std::string all = text.str();
        at_ += static_cast<std::streamoff>(all.size());
        return all.find("SUMMARY: portent:") == std::string::npos ? "" : all;
    }

  private:
    std::string path_;
    std::streamoff at_ = 0;
};

} /* namespace portent */

#endif
