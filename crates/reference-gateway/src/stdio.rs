//! A client over stdio.

use std::sync::Arc;

use serde_json::Value;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader, stdin, stdout},
    sync::mpsc::unbounded_channel,
};

use super::{
    Options,
    client::relay,
    clients::{Clients, Down},
};

pub async fn run(options: Options) -> Result<(), String> {
    let (to, up) = unbounded_channel();
    let (down, mut from) = unbounded_channel::<Down>();
    let reading = tokio::spawn(async move {
        // Read bytes, so that a line that is not UTF-8 does not end the gateway.
        let mut lines = BufReader::new(stdin()).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            match serde_json::from_slice::<Value>(&line) {
                Ok(Value::Array(batch)) => batch.into_iter().for_each(|message| drop(to.send(message))),
                Ok(message) => drop(to.send(message)),
                Err(why) => eprintln!("a line that is not JSON: {why}"),
            }
        }
    });
    let writing = tokio::spawn(async move {
        let mut output = stdout();
        while let Some(Down { message, .. }) = from.recv().await {
            let mut line = message.to_string();
            line.push('\n');
            if output.write_all(line.as_bytes()).await.is_err() || output.flush().await.is_err() {
                return;
            }
        }
    });
    let relayed = relay(Arc::new(options), Vec::new(), up, down, Clients::default()).await;
    reading.abort();
    let _ = writing.await;
    relayed
}
