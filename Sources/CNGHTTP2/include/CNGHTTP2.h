#pragma once
// libnghttp2 for the HTTP2 module, its only importer. Swift calls it directly.
#include <nghttp2/nghttp2.h>
