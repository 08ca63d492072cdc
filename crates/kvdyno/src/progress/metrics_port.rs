//! `--metrics 127.0.0.1:PORT`: the same text for a collector that asks by HTTP. One thread answers one request after
//! the other; without requests it sleeps, and nothing that is measured waits for it.

use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use std::{fmt, path::PathBuf};

/// Limits of a request, of its time and of the bytes of its head: a slower client is not a collector.
const PATIENCE: Duration = Duration::from_secs(2);
const LONGEST_HEAD: usize = 8192;

const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// A target of metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetricsTarget {
    /// Into a file.
    File(PathBuf),
    /// To any client of this address of the machine itself.
    Port(SocketAddr),
}

/// An address that metrics cannot be had at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Others could read there what is run here.
    #[error("{0} can be reached from other machines; use a loopback address: 127.0.0.1:{port}", port = .0.port())]
    NotLoopback(SocketAddr),
    /// The text is neither a file nor an address.
    #[error(
        "`{0}` looks like an address; one is written as 127.0.0.1:9100 or [::1]:9100, a file of that name as ./{0}"
    )]
    Name(String),
}

impl FromStr for MetricsTarget {
    type Err = TargetError;

    fn from_str(words: &str) -> Result<MetricsTarget, TargetError> {
        match words.parse::<SocketAddr>() {
            Ok(address) if address.ip().is_loopback() => Ok(MetricsTarget::Port(address)),
            Ok(address) => Err(TargetError::NotLoopback(address)),
            Err(_) if looks_like_address(words) => Err(TargetError::Name(words.to_owned())),
            Err(_) => Ok(MetricsTarget::File(words.into())),
        }
    }
}

impl fmt::Display for MetricsTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            MetricsTarget::File(path) => path.display().fmt(f),
            MetricsTarget::Port(address) => write!(f, "http://{address}/metrics"),
        }
    }
}

/// `localhost:9100`, `:9100`.
fn looks_like_address(words: &str) -> bool {
    let port = words.rsplit_once(':').filter(|(host, _)| !host.contains('/')).map(|(_, port)| port);
    port.is_some_and(|port| !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The newest text, and the thread that hands it out until the program ends.
pub struct MetricsPort(Arc<Mutex<String>>);

impl MetricsPort {
    /// Listens there.
    ///
    /// # Errors
    /// If the port cannot be had.
    pub fn open(address: SocketAddr) -> io::Result<MetricsPort> {
        let listener = TcpListener::bind(address)?;
        let text = Arc::new(Mutex::new(String::new()));
        let handed_out = Arc::clone(&text);
        thread::Builder::new().name("metrics".to_owned()).spawn(move || {
            for stream in listener.incoming() {
                // A client that leaves before the end needs no answer. A failure to accept may last, so the thread
                // waits.
                match stream.and_then(|stream| answer(stream, &handed_out)) {
                    Ok(()) => {}
                    Err(_) => thread::sleep(Duration::from_millis(10)),
                }
            }
        })?;
        Ok(MetricsPort(text))
    }

    /// Has a newer text.
    pub fn set(&self, text: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}

fn answer(mut stream: TcpStream, text: &Mutex<String>) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let head = head(&mut stream)?;
    let (status, body) = match request(&head) {
        Some("/metrics" | "/") => ("200 OK", text.lock().unwrap_or_else(PoisonError::into_inner).clone()),
        Some(_) => ("404 Not Found", "the metrics are at /metrics\n".to_owned()),
        None => ("405 Method Not Allowed", "only GET\n".to_owned()),
    };
    let kind = if status.starts_with("200") { CONTENT_TYPE } else { "text/plain; charset=utf-8" };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// The head of a request, as far as it came in time.
fn head(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let (begun, mut head, mut buffer) = (Instant::now(), Vec::new(), [0; 1024]);
    while !head.windows(4).any(|end| end == b"\r\n\r\n") {
        if head.len() > LONGEST_HEAD || begun.elapsed() > PATIENCE {
            return Err(io::ErrorKind::InvalidData.into());
        }
        match stream.read(&mut buffer)? {
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            count => head.extend_from_slice(&buffer[..count]),
        }
    }
    Ok(head)
}

/// The path that is asked for; none of another method.
fn request(head: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(head.split(|byte| *byte == b'\r').next()?).ok()?;
    let path = line.strip_prefix("GET ")?.split(' ').next()?;
    Some(path.split('?').next().unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_of_this_machine_alone() {
        let target = |words: &str| words.parse::<MetricsTarget>().map_err(|error| error.to_string());
        assert_eq!(target("127.0.0.1:9100"), Ok(MetricsTarget::Port("127.0.0.1:9100".parse().unwrap())));
        assert_eq!(target("[::1]:9100"), Ok(MetricsTarget::Port("[::1]:9100".parse().unwrap())));
        for file in ["kvdyno.prom", "/run/a:1/b", "./localhost:9100", "a:b"] {
            assert_eq!(target(file), Ok(MetricsTarget::File(file.into())));
        }
        for address in ["0.0.0.0:9100", "192.168.1.7:9100", "[::]:9100"] {
            assert!(target(address).unwrap_err().contains("use a loopback address: 127.0.0.1:9100"), "{address}");
        }
        for name in ["localhost:9100", ":9100", "host.example:80"] {
            assert!(target(name).unwrap_err().contains("looks like an address"), "{name}");
        }
    }

    #[test]
    fn requests_are_read_as_far_as_they_matter() {
        assert_eq!(request(b"GET /metrics?name=a HTTP/1.1\r\nHost: x\r\n\r\n"), Some("/metrics"));
        assert_eq!(request(b"POST /metrics HTTP/1.1\r\n\r\n"), None);
        assert_eq!(request(b"\xff\r\n\r\n"), None);
    }
}
