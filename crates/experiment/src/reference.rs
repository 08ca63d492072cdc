//! The texts that are written from the definitions of the keys: the reference, the example and the JSON Schema.

mod example;
mod page;
mod schema;

pub use example::example;
pub use page::page;
pub use schema::schema;
