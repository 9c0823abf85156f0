/* The page of `watch --http`, put into the program by cmake/embed.cmake from src/cli/html/. */
#ifndef PT_CLI_WATCH_PAGE_H
#define PT_CLI_WATCH_PAGE_H

extern const char pt_embedded_watch_page[], pt_embedded_watch_style[], pt_embedded_watch_script[];

#endif
