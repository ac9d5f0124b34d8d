//! A client over stdio.

use std::sync::Arc;

use serde_json::{Value, json};
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
    let rejecting = down.clone();
    let reading = tokio::spawn(async move {
        // Since 2025-11-25 an error has no id if that of the request cannot be read.
        let reject = |code: i64, why: &str| {
            let error = json!({ "jsonrpc": "2.0", "error": { "code": code, "message": why } });
            drop(rejecting.send(Down { message: error, belongs_to: None }));
        };
        // Read bytes, so that a line that is not UTF-8 does not end the gateway.
        let mut lines = BufReader::new(stdin()).split(b'\n');
        while let Ok(Some(line)) = lines.next_segment().await {
            match serde_json::from_slice::<Value>(&line) {
                Ok(Value::Array(batch)) => batch.into_iter().for_each(|message| drop(to.send(message))),
                Ok(message) if message.get("id").is_none_or(|id| id.is_string() || id.is_i64()) => {
                    drop(to.send(message));
                }
                Ok(_) => reject(-32600, "the id is neither a string nor an integer"),
                Err(why) => reject(-32700, &why.to_string()),
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
