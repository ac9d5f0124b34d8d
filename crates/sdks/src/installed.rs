//! Looks for the SDKs of the program of a command, in files alone.

mod binary;
mod npm;
mod python;

use std::{
    env,
    path::{Path, PathBuf},
};

use self::binary::Binary;
use crate::ledger::{LEDGERS, Registry};
use conform_model::outcome::Sdk;

/// The SDKs that a command's program has installed, in the order of the ledger.
pub fn installed(argv: &[String], directory: &Path) -> Vec<Sdk> {
    let argv = started(argv);
    let Some(program) = argv.first().and_then(|program| found(program, directory)) else { return Vec::new() };
    let mut places: Vec<PathBuf> =
        argv[1..].iter().map(|word| directory.join(word)).filter(|path| path.exists()).collect();
    places.extend(npm::started_by_npx(&program, &argv[1..], directory));
    places.push(directory.to_owned());
    places.extend(npm::project(&program, &places));
    let environments = python::environments(&program, &argv[1..], &places);
    // A script comes before the program that runs it.
    let files: Vec<PathBuf> = places.iter().cloned().chain([program.clone()]).filter(|path| path.is_file()).collect();
    let lists = binary::lists(&program, &places);
    let compiled =
        Some(&program).filter(|program| !binary::is_interpreter(program)).and_then(|program| Binary::of(program));
    // Anything else may be a script: what npm installs as a command is one.
    let is_script = compiled.is_none() && environments.is_empty() && !binary::is_interpreter(&program);
    let is_javascript = is_script || binary::is_for_javascript(&program);
    let scripts = if is_javascript { files.as_slice() } else { &[] };
    let of_platform = scripts.iter().flat_map(|script| npm::platform_files(script));
    let binaries: Vec<Binary> = compiled.into_iter().chain(of_platform.filter_map(|file| Binary::of(&file))).collect();
    let imports: Vec<npm::Imports> = scripts.iter().filter_map(|script| npm::Imports::of(script)).collect();
    let version = |registry, package: &str| match registry {
        Registry::Npm => imports.iter().find_map(|imports| imports.version(package)),
        Registry::Pypi => environments.iter().find_map(|place| python::version(place, package)),
        Registry::Crates => binaries.iter().find_map(|binary| binary.of_crate(package)),
        Registry::Go => binaries.iter().find_map(|binary| binary.of_module(package)),
        Registry::Nuget => lists.iter().chain(&binaries).find_map(|binary| binary.of_assembly(package)),
    };
    let sdk =
        |registry, package: &str| Some(Sdk { package: package.to_owned(), version: Some(version(registry, package)?) });
    LEDGERS.iter().filter_map(|of| sdk(of.registry, &of.sdk)).collect()
}

/// A command without the variables that `env` sets for it.
fn started(argv: &[String]) -> &[String] {
    let is_before = |(at, word): (usize, &String)| if at == 0 { word == "env" } else { word.contains('=') };
    let before = argv.iter().enumerate().take_while(|word| is_before(*word)).count();
    &argv[before..]
}

/// The file that a command starts: a path, or a name that the search path knows. Links are not followed: the Python of an
/// environment is one.
fn found(program: &str, directory: &Path) -> Option<PathBuf> {
    if program.contains(['/', '\\']) {
        return Some(directory.join(program)).filter(|path| path.is_file());
    }
    let path = env::var_os("PATH")?;
    let names = [program.to_owned(), format!("{program}.exe"), format!("{program}.cmd")];
    env::split_paths(&path)
        .flat_map(|folder| names.each_ref().map(|name| folder.join(name)))
        .find(|path| path.is_file())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn write(path: &Path, text: impl AsRef<[u8]>) {
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        fs::write(path, text).expect("a file");
    }

    fn looked(argv: &[&str], directory: &Path) -> Vec<(String, String)> {
        let argv: Vec<String> = argv.iter().map(|word| (*word).to_owned()).collect();
        let named = |sdk: Sdk| (sdk.package, sdk.version.unwrap_or_default());
        installed(&argv, directory).into_iter().map(named).collect()
    }

    #[test]
    fn the_package_that_a_script_would_import_is_the_nearest_one() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path();
        write(&root.join("bin/node"), "");
        write(&root.join("node_modules/@modelcontextprotocol/sdk/package.json"), r#"{"version": "1.0.0"}"#);
        write(&root.join("app/node_modules/@modelcontextprotocol/sdk/package.json"), r#"{"version": "1.32.2"}"#);
        write(&root.join("app/dist/index.js"), "");
        let sdk = |version: &str| vec![("@modelcontextprotocol/sdk".to_owned(), version.to_owned())];
        assert_eq!(looked(&["bin/node", "app/dist/index.js"], root), sdk("1.32.2"));
        assert_eq!(looked(&["../bin/node", "dist/index.js"], &root.join("app")), sdk("1.32.2"));
        write(&root.join("other.js"), "");
        assert_eq!(looked(&["bin/node", "--flag", "other.js"], root), sdk("1.0.0"));
        assert_eq!(looked(&["bin/none", "other.js"], root), []);
    }

    #[test]
    fn a_command_of_a_project_imports_its_packages() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path();
        for program in ["npm", "python"] {
            write(&root.join("bin").join(program), "");
        }
        write(&root.join("app/package.json"), r#"{"name": "app", "dependencies": {"framework": "1"}}"#);
        write(&root.join("app/node_modules/@modelcontextprotocol/sdk/package.json"), r#"{"version": "1.32.2"}"#);
        let sdk = vec![("@modelcontextprotocol/sdk".to_owned(), "1.32.2".to_owned())];
        assert_eq!(looked(&["../bin/npm", "start"], &root.join("app")), [], "it only happens to be there");
        let framework = r#"{"name": "framework", "dependencies": {"@modelcontextprotocol/sdk": "1"}}"#;
        write(&root.join("app/node_modules/framework/package.json"), framework);
        assert_eq!(looked(&["../bin/npm", "start"], &root.join("app")), sdk);
        // A program of another language in the same folder.
        write(&root.join("app/server"), "\x7fELF");
        write(&root.join("app/server.py"), "");
        assert_eq!(looked(&["./server"], &root.join("app")), []);
        assert_eq!(looked(&["../bin/python", "server.py"], &root.join("app")), []);
        assert_eq!(looked(&["bin/npm", "--prefix", "app", "run", "start"], root), sdk);
        assert_eq!(looked(&["bin/npm", "start"], root), []);
        assert_eq!(looked(&["../bin/python", "-m", "server"], &root.join("app")), []);
    }

    #[test]
    fn a_script_of_an_environment_names_its_python() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path();
        write(&root.join("venv/bin/python"), "");
        write(&root.join("venv/lib/python3.12/site-packages/mcp-1.30.0.dist-info/METADATA"), "");
        write(&root.join("venv/lib/python3.12/site-packages/mcp_server_time-1.0.dist-info/METADATA"), "");
        write(&root.join("elsewhere/tool"), format!("#!{}/venv/bin/python\nimport mcp\n", root.display()));
        write(&root.join("server.py"), "");
        let sdk = vec![("mcp".to_owned(), "1.30.0".to_owned())];
        assert_eq!(looked(&["venv/bin/python", "server.py"], root), sdk);
        assert_eq!(looked(&["elsewhere/tool"], root), sdk);
    }

    #[test]
    fn a_binary_says_what_was_built_in() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path();
        let rust = b"\x7fELF\0\0/home/u/.cargo/registry/src/index.crates.io-19\0/rmcp-0.8.1/src/service.rs\0\0";
        write(&root.join("server"), rust);
        assert_eq!(looked(&["./server"], root), [("rmcp".to_owned(), "0.8.1".to_owned())]);
        write(&root.join("text"), &rust[4..]);
        assert_eq!(looked(&["./text"], root), []);
        write(&root.join("config.json"), "{}");
        assert_eq!(looked(&["./server", "--config", "config.json"], root).len(), 1);
        assert_eq!(looked(&["env", "A=1", "B=", "./server"], root).len(), 1);
        assert_eq!(looked(&["A=1", "./server"], root), []);
    }

    #[test]
    fn a_script_may_start_the_program_of_a_platform_package() {
        let place = tempfile::tempdir().expect("a folder");
        let package = place.path().join("node_modules/server");
        write(&package.join("index.js"), "");
        write(
            &package.join("package.json"),
            r#"{"name": "server", "version": "1.0.0", "optionalDependencies": {"server-linux": "1.0.0"}}"#,
        );
        let go = b"\x7fELF\0\0dep\tgithub.com/modelcontextprotocol/go-sdk\tv1.8.0\th1:x=\n";
        write(&place.path().join("node_modules/server-linux/bin/server"), go);
        write(&place.path().join("node_modules/server-other/bin/server"), go);
        write(&place.path().join("bin/node"), "");
        let sdk = vec![("github.com/modelcontextprotocol/go-sdk".to_owned(), "1.8.0".to_owned())];
        assert_eq!(looked(&["bin/node", "node_modules/server/index.js"], place.path()), sdk);
        write(&place.path().join("bin/npx"), "");
        assert_eq!(looked(&["bin/npx", "-y", "server@1.0.0"], place.path()), sdk);
    }

    #[test]
    fn a_program_for_dotnet_has_a_list_of_its_packages() {
        let place = tempfile::tempdir().expect("a folder");
        let root = place.path();
        for program in ["dotnet", "server"] {
            write(&root.join("bin").join(program), "");
        }
        let list = |version: &str| format!("{{\"libraries\": {{\"ModelContextProtocol/{version}\": {{}}}}}}");
        write(&root.join("out/server.deps.json"), list("1.0.0"));
        write(&root.join("out/server.dll"), "");
        write(&root.join("bin/server.deps.json"), list("1.2.0"));
        write(&root.join("project/obj/project.assets.json"), list("2.0.0-preview.3"));
        let sdk = |version: &str| vec![("ModelContextProtocol".to_owned(), version.to_owned())];
        assert_eq!(looked(&["bin/dotnet", "out/server.dll"], root), sdk("1.0.0"));
        assert_eq!(looked(&["bin/server"], root), sdk("1.2.0"));
        assert_eq!(looked(&["bin/dotnet", "run", "--project", "project"], root), sdk("2.0.0-preview.3"));
        assert_eq!(looked(&["../bin/dotnet", "run"], &root.join("project")), sdk("2.0.0-preview.3"));
    }
}
