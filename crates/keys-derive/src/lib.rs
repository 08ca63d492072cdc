//! `#[derive(Keys)]`: a struct is a section of the experiment file, and each of its fields a key, declared once.
//!
//! ```ignore
//! /// `[data]`: the records.
//! #[derive(Deserialize, Serialize, Keys)]
//! #[serde(deny_unknown_fields, default)]
//! #[keys(section = "data", key = DataKey)]
//! pub struct DataSection {
//!     /// Records in each database.
//!     #[key(default = Count(1_000_000))]
//!     pub records: Count<1, 1_000_000_000>,
//!     /// Leading bytes of a key that engines are told to be its prefix.
//!     #[key(absent = "none")]
//!     pub prefix_size: Option<Length<1, 65_535>>,
//! }
//! ```
//!
//! The derive implements `Default` and `kvdyno_model::KeySection` for the struct, and defines the enum that `key`
//! names: a typed name for each key. The attributes of a field are: `default`, its value where the file does not set
//! it; `absent`, the meaning of a missing value; `flag`, the name of its flag, if that is not the key's; `no_flag`, for
//! a key without a flag; `skip`, for a field that is no key.

use proc_macro::TokenStream;
use proc_macro2::TokenStream as Tokens;
use quote::{format_ident, quote};
use syn::{
    Attribute, Data, DeriveInput, Error, Expr, ExprLit, Field, Fields, GenericArgument, Ident, Lit, LitStr, Meta,
    PathArguments, Type, parse_macro_input,
};

/// See the crate.
#[proc_macro_derive(Keys, attributes(keys, key))]
pub fn keys(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    expand(&input).unwrap_or_else(Error::into_compile_error).into()
}

/// `#[keys(…)]` of a struct.
struct SectionAttribute {
    section: LitStr,
    key: Ident,
    no_flags: bool,
}

impl SectionAttribute {
    fn of(input: &DeriveInput) -> syn::Result<Self> {
        let (mut section, mut key, mut no_flags) = (None, None, false);
        for attribute in input.attrs.iter().filter(|attribute| attribute.path().is_ident("keys")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("section") {
                    section = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("key") {
                    key = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("no_flags") {
                    no_flags = true;
                } else {
                    return Err(meta.error("it can be section, key or no_flags"));
                }
                Ok(())
            })?;
        }
        match (section, key) {
            (Some(section), Some(key)) => Ok(SectionAttribute { section, key, no_flags }),
            _ => Err(Error::new_spanned(&input.ident, "it needs #[keys(section = \"…\", key = …)]")),
        }
    }
}

/// A field, with what its `#[key(…)]` says.
struct Key<'a> {
    field: &'a Field,
    name: &'a Ident,
    default: Option<Expr>,
    absent: Option<LitStr>,
    flag: Option<LitStr>,
    no_flag: bool,
    skip: bool,
}

impl<'a> Key<'a> {
    fn of(field: &'a Field) -> syn::Result<Self> {
        let name = field.ident.as_ref().ok_or_else(|| Error::new_spanned(field, "a key needs a name"))?;
        let mut key = Key { field, name, default: None, absent: None, flag: None, no_flag: false, skip: false };
        for attribute in field.attrs.iter().filter(|attribute| attribute.path().is_ident("key")) {
            attribute.parse_nested_meta(|meta| {
                if meta.path.is_ident("default") {
                    key.default = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("absent") {
                    key.absent = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("flag") {
                    key.flag = Some(meta.value()?.parse()?);
                } else if meta.path.is_ident("no_flag") {
                    key.no_flag = true;
                } else if meta.path.is_ident("skip") {
                    key.skip = true;
                } else {
                    return Err(meta.error("it can be default, absent, flag, no_flag or skip"));
                }
                Ok(())
            })?;
        }
        key.check()?;
        Ok(key)
    }

    fn check(&self) -> syn::Result<()> {
        let wrong = |message| Err(Error::new_spanned(self.field, message));
        match (optional(&self.field.ty), &self.default, &self.absent) {
            _ if self.skip => Ok(()),
            (Some(_), None, Some(_)) | (None, Some(_), None) => Ok(()),
            (Some(_), ..) => wrong("an optional key says what happens without it: #[key(absent = \"…\")]"),
            (None, ..) => wrong("a key needs #[key(default = …)]"),
        }
    }

    /// The name of its variant in the enum of keys: `key_size` is `KeySize`.
    fn variant(&self) -> Ident {
        let words = self.name.to_string();
        let words = words.split('_').map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            first.to_uppercase() + rest
        });
        format_ident!("{}", words.collect::<String>(), span = self.name.span())
    }

    /// The field's value where the file is silent.
    fn initial(&self) -> Tokens {
        let name = self.name;
        match &self.default {
            Some(value) => quote!(#name: #value),
            None => quote!(#name: ::core::default::Default::default()),
        }
    }

    fn definition(&self, section: &LitStr, key_enum: &Ident, no_flags: bool) -> Tokens {
        let (name, doc, variant) = (self.name, doc(&self.field.attrs), self.variant());
        let text = name.to_string();
        let flag = match &self.flag {
            _ if self.no_flag || no_flags => quote!(::core::option::Option::None),
            Some(flag) => quote!(::core::option::Option::Some(#flag)),
            None => {
                let flag = text.replace('_', "-");
                quote!(::core::option::Option::Some(#flag))
            }
        };
        let (value, otherwise) = match (optional(&self.field.ty), &self.absent) {
            (Some(inner), Some(absent)) => (inner, quote!(::kvdyno_model::Otherwise::absent(#absent))),
            _ => (&self.field.ty, quote!(::kvdyno_model::Otherwise::default_of(&default.#name))),
        };
        quote!(::kvdyno_model::Definition {
            section: #section,
            name: #text,
            path: #key_enum::#variant.into(),
            doc: #doc,
            flag: #flag,
            otherwise: #otherwise,
            value: ::kvdyno_model::ValueType::of::<#value>(),
        })
    }
}

fn expand(input: &DeriveInput) -> syn::Result<Tokens> {
    let attribute = SectionAttribute::of(input)?;
    let Data::Struct(data) = &input.data else { return Err(Error::new_spanned(input, "a section is a struct")) };
    let Fields::Named(fields) = &data.fields else {
        return Err(Error::new_spanned(input, "the fields of a section have names"));
    };
    let all = fields.named.iter().map(Key::of).collect::<syn::Result<Vec<Key<'_>>>>()?;
    let keys: Vec<&Key<'_>> = all.iter().filter(|key| !key.skip).collect();
    let (section, key_enum, name) = (&attribute.section, &attribute.key, &input.ident);
    let doc = doc(&input.attrs);
    let initial = all.iter().map(Key::initial);
    let definitions = keys.iter().map(|key| key.definition(section, key_enum, attribute.no_flags));
    let typed = key_enum_of(&attribute, &keys);
    let default = format_ident!("{}", if keys.is_empty() { "_default" } else { "default" });
    Ok(quote! {
        impl ::core::default::Default for #name {
            fn default() -> Self {
                #name { #(#initial),* }
            }
        }

        impl ::kvdyno_model::KeySection for #name {
            const NAME: &'static str = #section;
            const DOC: &'static str = #doc;

            fn definitions() -> ::std::vec::Vec<::kvdyno_model::Definition> {
                let #default = <#name as ::core::default::Default>::default();
                ::std::vec![#(#definitions),*]
            }
        }

        #typed
    })
}

/// The enum that has a variant for each key.
fn key_enum_of(attribute: &SectionAttribute, keys: &[&Key<'_>]) -> Tokens {
    let (section, key_enum) = (&attribute.section, &attribute.key);
    let variants: Vec<Ident> = keys.iter().map(|key| key.variant()).collect();
    let docs = keys.iter().map(|key| doc(&key.field.attrs));
    let names: Vec<String> = keys.iter().map(|key| key.name.to_string()).collect();
    let about = format!("The keys of `{}`.", section.value());
    quote! {
        #[doc = #about]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum #key_enum {
            #(#[doc = #docs] #variants),*
        }

        impl #key_enum {
            /// All of them, in order.
            pub const ALL: &'static [#key_enum] = &[#(#key_enum::#variants),*];

            /// As the file has it.
            pub fn name(self) -> &'static str {
                match self { #(#key_enum::#variants => #names),* }
            }
        }

        impl ::core::convert::From<#key_enum> for ::kvdyno_model::KeyPath {
            fn from(key: #key_enum) -> ::kvdyno_model::KeyPath {
                ::kvdyno_model::KeyPath::new(#section, key.name())
            }
        }

        impl ::core::fmt::Display for #key_enum {
            fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                ::core::fmt::Display::fmt(&::kvdyno_model::KeyPath::from(*self), f)
            }
        }
    }
}

/// The `T` of an `Option<T>`.
fn optional(field: &Type) -> Option<&Type> {
    let Type::Path(path) = field else { return None };
    let last = path.path.segments.last().filter(|last| last.ident == "Option")?;
    let PathArguments::AngleBracketed(arguments) = &last.arguments else { return None };
    match arguments.args.first() {
        Some(GenericArgument::Type(inner)) => Some(inner),
        _ => None,
    }
}

/// The doc comment, as one line.
fn doc(attributes: &[Attribute]) -> String {
    let text = |attribute: &Attribute| match &attribute.meta {
        Meta::NameValue(meta) if meta.path.is_ident("doc") => match &meta.value {
            Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => Some(text.value().trim().to_owned()),
            _ => None,
        },
        _ => None,
    };
    attributes.iter().filter_map(text).collect::<Vec<_>>().join(" ")
}
