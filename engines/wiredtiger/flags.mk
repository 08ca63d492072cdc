# The library is loaded at run time; only its header is needed to build.
NEEDS_wiredtiger = libwiredtiger-dev
