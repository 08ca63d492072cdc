# The library is loaded at run time; only its header is needed to build.
NEEDS_bdb = libdb5.3-dev
PARTS_bdb = bdb-family
