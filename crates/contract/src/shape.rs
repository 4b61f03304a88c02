//! Shapes: how a typed record is read from a document, and what is said about its type.

use crate::document::Cursor;
use crate::report::Report;
use serde::Serialize;
use serde_json::{Map, Value, json};

/// A type that can be read from a document. From one declaration come the reading, the schema and the example, so that
/// they cannot disagree.
pub trait Shape: Sized + Serialize {
    /// Whether a member of this type must be there.
    const REQUIRED: bool = true;

    /// Reads a value, or says everything that keeps it from being one. None means that something was said.
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self>;

    /// What a member of this type is when it is not there.
    fn absent(owner: Cursor<'_>, key: &str, report: &mut Report) -> Option<Self> {
        report.missing(owner, key);
        None
    }

    /// Whether the member `name` of `owner` is a member of this type under another name that the form allows.
    fn answers_to(_owner: Cursor<'_>, _name: &[u8]) -> bool {
        false
    }

    /// Whether a member of this type is left out when the record is written.
    fn is_absent(&self) -> bool {
        false
    }

    /// The JSON Schema (2020-12) of the values that [`Shape::read`] accepts.
    fn schema(schemas: &mut Schemas) -> Value;

    /// The smallest valid value.
    fn example() -> Value;
}

/// The named schemas that a schema refers to.
#[derive(Debug, Default)]
pub struct Schemas(Map<String, Value>);

impl Schemas {
    /// A reference to the schema called `name`, which is made on first use.
    pub fn refer(&mut self, name: &str, make: impl FnOnce(&mut Schemas) -> Value) -> Value {
        if !self.0.contains_key(name) {
            // The place is taken first, so that a type that contains itself ends here.
            self.0.insert(name.to_owned(), Value::Null);
            let schema = make(self);
            self.0.insert(name.to_owned(), schema);
        }
        json!({ "$ref": format!("#/$defs/{name}") })
    }

    /// The named schemas, by name.
    pub fn into_defs(self) -> Map<String, Value> {
        let mut defs: Vec<_> = self.0.into_iter().collect();
        defs.sort_by(|(one, _), (other, _)| one.cmp(other));
        defs.into_iter().collect()
    }
}

impl<T: Shape> Shape for Option<T> {
    const REQUIRED: bool = false;

    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        if at.kind() == crate::Kind::Null {
            use countersign_diagnostic::Repair;
            let message = "an optional field is null";
            let found = report.find(&crate::rules::NULL_FOR_ABSENT, at, message, "leave the field out");
            let pointer = found.pointer.clone();
            found.repair(Repair::remove(pointer, "leave the field out"));
            return None;
        }
        T::read(at, report).map(Some)
    }

    fn absent(_: Cursor<'_>, _: &str, _: &mut Report) -> Option<Self> {
        Some(None)
    }

    fn is_absent(&self) -> bool {
        self.is_none()
    }

    fn schema(schemas: &mut Schemas) -> Value {
        T::schema(schemas)
    }

    fn example() -> Value {
        T::example()
    }
}

impl<T: Shape> Shape for Box<T> {
    fn read(at: Cursor<'_>, report: &mut Report) -> Option<Self> {
        T::read(at, report).map(Box::new)
    }

    fn schema(schemas: &mut Schemas) -> Value {
        T::schema(schemas)
    }

    fn example() -> Value {
        T::example()
    }
}

/// Declares an object: its fields with their names on the wire, types, documentation and examples.
///
/// ```text
/// shape! {
///     /// One lock.
///     pub struct ActiveLock {
///         /// The task that holds it.
///         pub task_id: TaskId,
///         /// What kind of thing it is; `type` is the name on the wire.
///         pub kind as "type": Kind = "serial",
///         /// May be absent.
///         pub note: Option<String>,
///     }
/// }
/// ```
///
/// `closed struct` refuses every unknown member, `x_` ones included. A field of type `Option` may be absent and may not
/// be null. `= value` after the type is its value in the example; an optional field with one is part of the example.
#[macro_export]
macro_rules! shape {
    (@wire $field:ident) => { stringify!($field) };
    (@wire $field:ident $wire:literal) => { $wire };
    (@example $ty:ty) => { <$ty as $crate::Shape>::REQUIRED.then(<$ty as $crate::Shape>::example) };
    (@example $ty:ty = $example:expr) => { Some($crate::serde_json::json!($example)) };
    ($(#[doc = $doc:literal])* pub closed struct $Name:ident { $($fields:tt)* }) => {
        $crate::shape! { @struct true, [$($doc),*], $Name { $($fields)* } }
    };
    ($(#[doc = $doc:literal])* pub struct $Name:ident { $($fields:tt)* }) => {
        $crate::shape! { @struct false, [$($doc),*], $Name { $($fields)* } }
    };
    (@struct $closed:literal, [$($doc:literal),*], $Name:ident {
        $(
            $(#[doc = $field_doc:literal])*
            pub $field:ident $(as $wire:literal)? : $ty:ty $(= $example:expr)?
        ),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq)]
        pub struct $Name {
            $( $(#[doc = $field_doc])* pub $field: $ty, )*
        }

        impl $Name {
            /// The names of the fields on the wire.
            pub const FIELDS: &'static [&'static str] = &[$( $crate::shape!(@wire $field $($wire)?) ),*];
        }

        impl $crate::Shape for $Name {
            fn read(at: $crate::Cursor<'_>, report: &mut $crate::Report) -> Option<Self> {
                if !report.expect(at, $crate::Kind::Object) {
                    return None;
                }
                $( let mut $field: Option<Option<$ty>> = None; )*
                for (key, value) in at.entries() {
                    let name = key.bytes();
                    $(
                        if name == $crate::shape!(@wire $field $($wire)?).as_bytes()
                            || <$ty as $crate::Shape>::answers_to(at, name)
                        {
                            $field = Some(<$ty as $crate::Shape>::read(value, report));
                            continue;
                        }
                    )*
                    report.unknown_field(at, key, Self::FIELDS, $closed);
                }
                $(
                    let $field = match $field {
                        Some(read) => read,
                        None => <$ty as $crate::Shape>::absent(at, $crate::shape!(@wire $field $($wire)?), report),
                    };
                )*
                Some(Self { $( $field: $field? ),* })
            }

            fn schema(schemas: &mut $crate::Schemas) -> $crate::serde_json::Value {
                schemas.refer(stringify!($Name), |schemas| {
                    let mut properties = $crate::serde_json::Map::new();
                    let mut required: Vec<&str> = Vec::new();
                    $(
                        let wire = $crate::shape!(@wire $field $($wire)?);
                        let schema = <$ty as $crate::Shape>::schema(schemas);
                        let doc = $crate::reference::doc(&[$($field_doc),*]);
                        properties.insert(wire.to_owned(), $crate::reference::described(schema, &doc));
                        if <$ty as $crate::Shape>::REQUIRED {
                            required.push(wire);
                        }
                    )*
                    $crate::reference::object_schema(&[$($doc),*], properties, &required, $closed)
                })
            }

            fn example() -> $crate::serde_json::Value {
                let mut members = $crate::serde_json::Map::new();
                $(
                    if let Some(value) = $crate::shape!(@example $ty $(= $example)?) {
                        members.insert($crate::shape!(@wire $field $($wire)?).to_owned(), value);
                    }
                )*
                $crate::serde_json::Value::Object(members)
            }
        }

        impl $crate::serde::Serialize for $Name {
            fn serialize<S: $crate::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                use $crate::serde::ser::SerializeMap as _;
                let mut map = out.serialize_map(None)?;
                $(
                    if !<$ty as $crate::Shape>::is_absent(&self.$field) {
                        map.serialize_entry($crate::shape!(@wire $field $($wire)?), &self.$field)?;
                    }
                )*
                map.end()
            }
        }
    };
}

/// Declares a choice among fixed words.
///
/// ```text
/// choice! {
///     /// How soon.
///     pub enum Priority { Low = "low", Normal = "normal" }
/// }
/// ```
///
/// `forgiving enum` is for words that decide nothing: a slip may be mended by the nearest word.
#[macro_export]
macro_rules! choice {
    ($(#[doc = $doc:literal])* pub enum $Name:ident { $($words:tt)* }) => {
        $crate::choice! { @enum unknown_word, [$($doc),*], $Name { $($words)* } }
    };
    ($(#[doc = $doc:literal])* pub forgiving enum $Name:ident { $($words:tt)* }) => {
        $crate::choice! { @enum unknown_word_forgiving, [$($doc),*], $Name { $($words)* } }
    };
    (@enum $unknown:ident, [$($doc:literal),*], $Name:ident {
        $( $(#[doc = $variant_doc:literal])* $Variant:ident = $word:literal ),* $(,)?
    }) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $Name {
            $( $(#[doc = $variant_doc])* #[doc = concat!("`", $word, "`")] $Variant, )*
        }

        impl $Name {
            /// The words, in the order declared.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
            /// Every choice, in the order declared.
            pub const ALL: &'static [$Name] = &[$($Name::$Variant),*];

            /// The word on the wire.
            pub fn as_str(self) -> &'static str {
                match self { $( Self::$Variant => $word ),* }
            }

            /// The choice with this word.
            pub fn parse(word: &str) -> Option<Self> {
                $( if word == $word { return Some(Self::$Variant); } )*
                None
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(self.as_str())
            }
        }

        impl $crate::Shape for $Name {
            fn read(at: $crate::Cursor<'_>, report: &mut $crate::Report) -> Option<Self> {
                let Some(word) = at.text() else {
                    report.wrong_kind(at, "a text");
                    return None;
                };
                let found = Self::parse(word);
                if found.is_none() {
                    report.$unknown(at, Self::WORDS);
                }
                found
            }

            fn schema(schemas: &mut $crate::Schemas) -> $crate::serde_json::Value {
                schemas.refer(stringify!($Name), |_| {
                    let doc = $crate::reference::doc(&[$($doc),*]);
                    let schema = $crate::serde_json::json!({ "type": "string", "enum": Self::WORDS });
                    $crate::reference::described(schema, &doc)
                })
            }

            fn example() -> $crate::serde_json::Value {
                Self::WORDS.first().copied().unwrap_or_default().into()
            }
        }

        impl $crate::serde::Serialize for $Name {
            fn serialize<S: $crate::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(self.as_str())
            }
        }
    };
}

/// Declares a text of a fixed form: an id, a hash, a path.
///
/// ```text
/// pattern! {
///     /// A task.
///     pub struct TaskId {
///         pattern: r"^T-[0-9]+$",
///         example: "T-1",
///         says: "a task id such as T-12",
///         test: |text| text.starts_with("T-"),
///     }
/// }
/// ```
///
/// `test` is the pattern written by hand, because compiling a regular expression costs more than a whole check; a
/// property test holds the two to the same answers.
#[macro_export]
macro_rules! pattern {
    (
        $(#[doc = $doc:literal])*
        pub struct $Name:ident {
            pattern: $pattern:expr,
            example: $example:expr,
            says: $says:expr,
            test: $test:expr $(,)?
        }
    ) => {
        $(#[doc = $doc])*
        #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $Name($crate::CompactString);

        impl $Name {
            /// The form as a regular expression.
            pub const PATTERN: &'static str = $pattern;

            /// The text, if it is of the form.
            pub fn parse(text: &str) -> Option<Self> {
                let test: fn(&str) -> bool = $test;
                test(text).then(|| Self(text.into()))
            }

            /// The text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $Name {
            fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str(&self.0)
            }
        }

        impl AsRef<str> for $Name {
            fn as_ref(&self) -> &str {
                &self.0
            }
        }

        impl $crate::Shape for $Name {
            fn read(at: $crate::Cursor<'_>, report: &mut $crate::Report) -> Option<Self> {
                let Some(text) = at.text() else {
                    report.no_text(at, $says, |raw| Self::parse(raw).is_some());
                    return None;
                };
                let found = Self::parse(text);
                if found.is_none() && text.trim().is_empty() {
                    report.empty(at, "this text");
                } else if found.is_none() {
                    report.bad_format(at, $says);
                }
                found
            }

            fn schema(schemas: &mut $crate::Schemas) -> $crate::serde_json::Value {
                schemas.refer(stringify!($Name), |_| {
                    let doc = $crate::reference::doc(&[$($doc),*]);
                    let schema = $crate::serde_json::json!({ "type": "string", "pattern": $pattern });
                    $crate::reference::described(schema, &doc)
                })
            }

            fn example() -> $crate::serde_json::Value {
                $example.into()
            }
        }

        impl $crate::serde::Serialize for $Name {
            fn serialize<S: $crate::serde::Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
                out.serialize_str(&self.0)
            }
        }
    };
}
