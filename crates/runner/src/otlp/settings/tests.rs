use super::*;

type Pairs<'a> = &'a [(&'a str, &'a str)];
type Case<'a> = (Pairs<'a>, Option<Named<'a>>, Option<&'a str>);

fn read(variables: Pairs<'_>, named: Option<Named<'_>>) -> Result<Option<Settings>, String> {
    let variable = |name: &str| variables.iter().find(|(it, _)| *it == name).map(|(_, value)| (*value).to_owned());
    Settings::read(&variable, named)
}

fn file(endpoint: &str) -> Option<Named<'_>> {
    Some(Named { endpoint, protocol: None, by_person: false })
}

const BASE: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const EXACT: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
const HEADERS: &str = "OTEL_EXPORTER_OTLP_HEADERS";

#[test]
fn the_address_is_the_nearest_that_was_named() {
    let person = Some(Named { endpoint: "http://localhost:9", protocol: None, by_person: true });
    let cases: [Case<'_>; 10] = [
        (&[], None, None),
        (&[(BASE, " ")], None, None),
        (&[], file("http://localhost:4318"), Some("http://localhost:4318/v1/traces")),
        (&[(BASE, "http://c:4318")], file("http://localhost:1"), Some("http://c:4318/v1/traces")),
        (&[(BASE, "https://c/otlp/")], None, Some("https://c/otlp/v1/traces")),
        (&[(BASE, "http://c:4318"), (EXACT, "http://c:1/in")], None, Some("http://c:1/in")),
        (&[(EXACT, "http://c:1")], None, Some("http://c:1/")),
        (&[(BASE, "http://c:4318")], person, Some("http://localhost:9/v1/traces")),
        (&[(BASE, "http://c:4318"), ("OTEL_SDK_DISABLED", "TRUE")], None, None),
        (&[(BASE, "http://c:4318"), ("OTEL_TRACES_EXPORTER", "none")], person, None),
    ];
    for (variables, named, url) in cases {
        let settings = read(variables, named).unwrap();
        assert_eq!(settings.map(|it| it.url).as_deref(), url, "{variables:?} {named:?}");
    }
}

#[test]
fn what_cannot_be_meant_is_said_and_no_key_is_repeated() {
    let local = (BASE, "http://localhost:4318");
    let cases: [Pairs<'_>; 11] = [
        &[(BASE, "collector:4318")],
        &[(BASE, "/v1/traces")],
        &[(BASE, "ftp://collector")],
        &[(BASE, "https://name:hunter2@collector")],
        &[(BASE, "http://collector:4318"), (HEADERS, "x-key=hunter2")],
        &[local, (HEADERS, "hunter2")],
        &[local, (HEADERS, "x-key=%zz hunter2")],
        &[local, (HEADERS, "x key=hunter2")],
        &[local, ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")],
        &[local, ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s")],
        &[local, ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "0")],
    ];
    for variables in cases {
        let Err(why) = read(variables, None) else { panic!("{variables:?} passed") };
        assert!(!why.contains("hunter2"), "{why}");
    }
}

#[test]
fn a_key_goes_where_a_person_sends_it_and_nowhere_else() {
    let variables: [(&str, &str); 1] = [(HEADERS, "x-key=a%2Cb, x-more=c")];
    let keys = |settings: Settings| -> Vec<(String, String)> {
        let text = |value: &HeaderValue| value.to_str().unwrap().to_owned();
        settings.headers.iter().map(|(name, value)| (name.to_string(), text(value))).collect()
    };
    let both = [("x-key".to_owned(), "a,b".to_owned()), ("x-more".to_owned(), "c".to_owned())];
    let with_base = [variables[0], (BASE, "https://c")];
    assert_eq!(keys(read(&with_base, None).unwrap().unwrap()), both);
    let person = Some(Named { endpoint: "https://c", protocol: None, by_person: true });
    assert_eq!(keys(read(&variables, person).unwrap().unwrap()), both);
    assert!(keys(read(&variables, file("https://c")).unwrap().unwrap()).is_empty());
    let of_traces = [with_base[0], with_base[1], ("OTEL_EXPORTER_OTLP_TRACES_HEADERS", "x-key=z")];
    assert_eq!(keys(read(&of_traces, None).unwrap().unwrap()), [("x-key".to_owned(), "z".to_owned())]);
}

#[test]
fn who_sends_is_said_by_the_nearest() {
    let version = ("service.version", env!("CARGO_PKG_VERSION"));
    let attributes = ("OTEL_RESOURCE_ATTRIBUTES", "service.name=a,deployment=b%20c,broken,=x");
    let cases: [(Pairs<'_>, Pairs<'_>); 3] = [
        (&[], &[("service.name", "countersign"), version]),
        (&[attributes], &[("service.name", "a"), ("deployment", "b c"), version]),
        (&[attributes, ("OTEL_SERVICE_NAME", "d")], &[("service.name", "d"), ("deployment", "b c"), version]),
    ];
    for (variables, expected) in cases {
        let variables: Vec<_> = variables.iter().copied().chain([(BASE, "http://localhost:1")]).collect();
        let found = read(&variables, None).unwrap().unwrap().resource;
        let found: Vec<_> = found.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        assert_eq!(found, expected);
    }
}
