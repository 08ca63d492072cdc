# cargo fetches what the adapter's Cargo.lock pins, fjall with it, and builds both into one library. Of the fetched
# source itself nothing is needed.
cargo build --release --locked --jobs "$JOBS" --manifest-path "$ADAPTER/Cargo.toml" --target-dir "$ADAPTER/target"
cp "$ADAPTER/target/release/libkvdyno_fjall.so" "$OUT/"
