//! `#[hip_api]`: the attribute of every HIP entry point that returns `hipError_t`.
//!
//! The function stays a literal `#[unsafe(no_mangle)] pub unsafe extern "C" fn`, so that cbindgen sees it. Its body is an
//! expression of type `Result<(), hipError_t>` (use `?` freely); the attribute moves it into `gneiss_hip_abi::entry::call`, which
//! initialises the runtime, logs the call, catches panics and records the thread's last error.
//!
//! Options: `no_init` (works without a device: the runtime is not started), `no_record` (leaves the last error alone).

use proc_macro::TokenStream;
use quote::quote;
use syn::{FnArg, Ident, ItemFn, Pat, Token, parse_macro_input, punctuated::Punctuated};

/// Wraps the body of a HIP entry point. See the crate's documentation.
#[proc_macro_attribute]
pub fn hip_api(options: TokenStream, item: TokenStream) -> TokenStream {
    let options = parse_macro_input!(options with Punctuated::<Ident, Token![,]>::parse_terminated);
    let mut init = true;
    let mut record = true;
    for option in &options {
        if option == "no_init" {
            init = false;
        } else if option == "no_record" {
            record = false;
        } else {
            return syn::Error::new_spanned(option, "expected `no_init` or `no_record`")
                .to_compile_error()
                .into();
        }
    }
    let function = parse_macro_input!(item as ItemFn);
    let (attributes, visibility, signature, body) = (
        &function.attrs,
        &function.vis,
        &function.sig,
        &function.block,
    );
    let name = signature.ident.to_string();
    let mut arguments = Vec::new();
    for input in &signature.inputs {
        match input {
            FnArg::Typed(argument) => match &*argument.pat {
                Pat::Ident(pattern) => arguments.push(pattern.ident.clone()),
                other => {
                    return syn::Error::new_spanned(other, "expected a plain name")
                        .to_compile_error()
                        .into();
                }
            },
            FnArg::Receiver(receiver) => {
                return syn::Error::new_spanned(receiver, "an entry point has no self")
                    .to_compile_error()
                    .into();
            }
        }
    }
    let safety =
        "# Safety\n\nPointers must be null or valid as HIP's documentation of this function says.";
    quote! {
        #(#attributes)*
        #[doc = ""]
        #[doc = #safety]
        #visibility #signature {
            static SITE: crate::entry::Site =
                crate::entry::Site { name: #name, file: file!(), line: line!(), init: #init, record: #record,
                    trace: ::gneiss_clr::trace::NameId::new() };
            crate::entry::call(
                &SITE,
                |arguments: &mut crate::log::Arguments| { #( arguments.push(&#arguments); )* let _ = arguments; },
                |arguments: &mut crate::profiling::RawArguments| { #( arguments.push(&#arguments); )* let _ = arguments; },
                || -> Result<(), crate::error::hipError_t> { #body },
            )
        }
    }
    .into()
}
