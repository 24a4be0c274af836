mod cart;
mod error_handler;

pub use cart::total;
pub use error_handler::handle;
