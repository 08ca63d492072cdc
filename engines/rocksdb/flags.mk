# The library is loaded at run time.
PARTS_rocksdb = lsm-family
