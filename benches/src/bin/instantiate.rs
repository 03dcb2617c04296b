//! The catalog's service under load: instantiations by 1 to 32 clients, beside rendering the same template in this
//! process; and updates of one template by 32 clients, whose versions must be without gap or duplicate.
//!
//! `instantiate DROPFORGE [SECONDS] [UPDATES] [DB]`: the program, how long each row takes, how many updates a client
//! makes, and where the catalog is (a `postgres://` address of an empty database; else a new file in the system's
//! directory for temporary files).

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use dropforge::engine::{Dialect, Engine};
use serde_json::{Value as Json, json};

type Result<T> = std::result::Result<T, Box<dyn std::error::Error + Send + Sync>>;

const TEMPLATE: &str = "apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ name }}
  namespace: {{ namespace }}
  labels:
    app: {{ name }}
    team: {{ team }}
spec:
  replicas: {{ replicas }}
  selector:
    matchLabels:
      app: {{ name }}
  template:
    metadata:
      labels:
        app: {{ name }}
    spec:
      containers:
        - name: {{ name }}
          image: {{ image }}:{{ tag }}
          ports:
            - containerPort: {{ port }}
          resources:
            requests:
              cpu: {{ cpu }}
              memory: {{ memory }}
{% if public %}---
apiVersion: v1
kind: Service
metadata:
  name: {{ name }}
  namespace: {{ namespace }}
spec:
  ports:
    - port: 80
      targetPort: {{ port }}
{% endif %}";

fn parameters() -> Json {
    json!({
        "name": "cart", "namespace": "shop", "team": "checkout", "replicas": 3, "image": "registry/cart", "tag": "1.4.2",
        "port": 8080, "cpu": "100m", "memory": "128Mi", "public": true,
    })
}

fn schema() -> String {
    let text = json!({"type": "string", "minLength": 1});
    let properties = json!({
        "name": text, "namespace": text, "team": text, "replicas": {"type": "integer", "minimum": 1, "maximum": 20},
        "image": text, "tag": text, "port": {"type": "integer"}, "cpu": text, "memory": text, "public": {"type": "boolean"},
    });
    json!({"type": "object", "required": ["name", "image", "replicas"], "properties": properties}).to_string()
}

/// The service, which ends with this.
struct Service {
    child: Child,
    address: String,
    key: String,
}

impl Drop for Service {
    fn drop(&mut self) {
        drop(self.child.kill());
        drop(self.child.wait());
    }
}

impl Service {
    fn start(program: &str, db: &str) -> Result<Self> {
        let arguments = ["serve", "--init", "--listen", "127.0.0.1:0", "--rate-limit", "off", "--db", db];
        let mut command = Command::new(program);
        let mut child = command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
        let key = line(child.stdout.take())?;
        let address = line(child.stderr.take())?.replace("listening on http://", "");
        Ok(Self { child, address, key })
    }

    fn client(&self) -> Result<Client> {
        let stream = TcpStream::connect(&self.address)?;
        stream.set_nodelay(true)?;
        Ok(Client { reader: BufReader::new(stream), key: self.key.clone() })
    }
}

fn line(from: Option<impl Read>) -> Result<String> {
    let mut line = String::new();
    BufReader::new(from.ok_or("no output")?).read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

/// A connection that is kept.
struct Client {
    reader: BufReader<TcpStream>,
    key: String,
}

impl Client {
    fn send(&mut self, method: &str, path: &str, body: &str) -> Result<Json> {
        let head = format!(
            "{method} /api/v1{path} HTTP/1.1\r\nHost: bench\r\nAuthorization: {}\r\nContent-Type: application/json\r\n\
             Content-Length: {}\r\n\r\n{body}",
            self.key,
            body.len()
        );
        self.reader.get_mut().write_all(head.as_bytes())?;
        let (mut status, mut length) = (String::new(), 0);
        self.reader.read_line(&mut status)?;
        loop {
            let mut line = String::new();
            self.reader.read_line(&mut line)?;
            match line.trim_end().to_ascii_lowercase().split_once(": ") {
                Some(("content-length", value)) => length = value.parse()?,
                Some(_) => {}
                None => break,
            }
        }
        let mut bytes = vec![0; length];
        self.reader.read_exact(&mut bytes)?;
        let answer = serde_json::from_slice(&bytes).unwrap_or(Json::Null);
        if status.starts_with("HTTP/1.1 2") { Ok(answer) } else { Err(format!("{status} {answer}").into()) }
    }

    fn made(&mut self, path: &str, body: &Json) -> Result<Json> {
        self.send("POST", path, &body.to_string())
    }
}

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let at = |place: usize| arguments.get(place);
    let program = at(0).ok_or("instantiate DROPFORGE [SECONDS] [UPDATES] [DB]")?;
    let seconds: f64 = at(1).map_or(Ok(8.0), |text| text.parse())?;
    let updates: usize = at(2).map_or(Ok(200), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("dropforge-bench-{}", std::process::id()));
    std::fs::create_dir_all(&folder)?;
    let db = at(3).cloned().unwrap_or_else(|| folder.join("catalog.db").display().to_string());
    let outcome = measure(&Service::start(program, &db)?, seconds, updates);
    std::fs::remove_dir_all(&folder)?;
    outcome
}

fn measure(service: &Service, seconds: f64, updates: usize) -> Result<()> {
    let mut client = service.client()?;
    let body = json!({"name": "web", "template_content": TEMPLATE, "parameters_schema": schema()});
    let template = client.made("/templates", &body)?;
    let generator = client.made("/generators", &json!({"name": "bench"}))?;
    let stack = client.made("/stacks", &json!({"name": "bench", "generator_id": generator["generator"]["id"]}))?;
    let path = format!("/stacks/{}/deployment-objects/from-template", stack["id"].as_str().unwrap_or_default());
    let body = json!({"template_id": template["id"], "parameters": parameters()}).to_string();
    println!("rendering in this process: {:.1} us", direct()?.as_secs_f64() * 1e6);
    println!("| clients | instantiations/s | p50 ms | p99 ms |\n|--:|--:|--:|--:|");
    for clients in [1, 4, 16, 32] {
        row(service, clients, seconds, &path, &body)?;
    }
    versions(service, template["id"].as_str().unwrap_or_default(), updates)
}

/// What one render takes, from parameters that are parsed each time, as the service's are.
fn direct() -> Result<Duration> {
    let template = Engine::new().compile(Dialect::Tera, "web", TEMPLATE).map_err(|error| format!("{error:?}"))?;
    let parameters = parameters().to_string();
    let (begun, rounds) = (Instant::now(), 20_000);
    let mut out = String::new();
    for _ in 0..rounds {
        out.clear();
        let parameters: Json = serde_json::from_str(&parameters)?;
        template.render_into(&parameters, &mut out).map_err(|error| format!("{error:?}"))?;
    }
    Ok(begun.elapsed() / rounds)
}

/// So many clients, each with one request after the other.
fn row(service: &Service, clients: usize, seconds: f64, path: &str, body: &str) -> Result<()> {
    let begun = Instant::now();
    let times: Vec<Result<Vec<Duration>>> = std::thread::scope(|scope| {
        let client = || {
            let (mut client, mut times) = (service.client()?, Vec::new());
            while begun.elapsed().as_secs_f64() < seconds {
                let sent = Instant::now();
                client.send("POST", path, body)?;
                times.push(sent.elapsed());
            }
            Ok(times)
        };
        let threads: Vec<_> = (0..clients).map(|_| scope.spawn(client)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a client panicked".into()))).collect()
    });
    let took = begun.elapsed().as_secs_f64();
    let mut all = Vec::new();
    for times in times {
        all.extend(times?);
    }
    all.sort_unstable();
    let at = |share: f64| all.get((all.len() as f64 * share) as usize).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!("| {clients} | {:.0} | {:.2} | {:.2} |", all.len() as f64 / took, at(0.5), at(0.99));
    Ok(())
}

/// 32 clients update one template; then its versions are looked at.
fn versions(service: &Service, template: &str, updates: usize) -> Result<()> {
    let path = format!("/templates/{template}");
    let body = json!({"template_content": TEMPLATE, "parameters_schema": schema()}).to_string();
    let begun = Instant::now();
    let done: Vec<Result<()>> = std::thread::scope(|scope| {
        let client = || {
            let mut client = service.client()?;
            (0..updates).try_for_each(|_| client.send("PUT", &path, &body).map(|_| ()))
        };
        let threads: Vec<_> = (0..32).map(|_| scope.spawn(client)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or_else(|_| Err("a client panicked".into()))).collect()
    });
    done.into_iter().collect::<Result<()>>()?;
    let took = begun.elapsed().as_secs_f64();
    let rows = service.client()?.send("GET", &format!("{path}/versions"), "")?;
    let mut numbers: Vec<i64> =
        rows.as_array().into_iter().flatten().filter_map(|row| row["version"].as_i64()).collect();
    numbers.sort_unstable();
    let last = 32 * updates as i64 + 1;
    if !numbers.iter().copied().eq(1..=last) {
        return Err(format!("{} versions, which are not 1 to {last}", numbers.len()).into());
    }
    println!("32 clients x {updates} updates: versions 1 to {last}, without gap or duplicate, in {took:.1} s");
    Ok(())
}
