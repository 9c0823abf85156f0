/* The page of the HTML report, put into the program by cmake/embed.cmake from src/report/html/. */
#ifndef PT_REPORT_EMBEDDED_H
#define PT_REPORT_EMBEDDED_H

extern const char pt_embedded_page[], pt_embedded_style[], pt_embedded_script[];

#endif
