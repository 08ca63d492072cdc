//! Which hypervisor, if any, the machine runs under.

use crate::tree::{Tree, field};

/// Its name, with the machine it pretends to be where it says: `KVM (Amazon EC2 m5.large)`.
pub(super) fn name(tree: &Tree, cpuinfo: &str) -> Option<String> {
    let product = dmi(tree);
    let hypervisor = tree
        .text("sys/hypervisor/type")
        .map(|kind| if kind == "xen" { "Xen".to_owned() } else { kind })
        .or_else(|| has_flag(cpuinfo).then(|| cpuid().unwrap_or_else(|| "unnamed".to_owned())))
        .or_else(|| tree.text("proc/device-tree/hypervisor/compatible").map(|text| text.replace('\0', " ")));
    match (hypervisor, product) {
        (Some(hypervisor), Some(product)) => Some(format!("{hypervisor} ({product})")),
        (Some(hypervisor), None) => Some(hypervisor),
        // Off x86 no flag tells, but firmware of virtual machines names itself.
        (None, Some(product)) if is_virtual(&product) => Some(product),
        (None, _) => None,
    }
}

fn has_flag(cpuinfo: &str) -> bool {
    field(cpuinfo, "flags").is_some_and(|flags| flags.split(' ').any(|flag| flag == "hypervisor"))
}

/// Vendor and product of the firmware.
fn dmi(tree: &Tree) -> Option<String> {
    let [vendor, product] = ["sys_vendor", "product_name"].map(|name| tree.text(format!("sys/class/dmi/id/{name}")));
    let words: Vec<String> = [vendor, product].into_iter().flatten().collect();
    (!words.is_empty()).then(|| words.join(" "))
}

/// By the names that systemd's `detect-virt` knows. Amazon calls machines without a hypervisor `….metal`.
fn is_virtual(product: &str) -> bool {
    const NAMES: [&str; 9] = [
        "KVM",
        "QEMU",
        "VMware",
        "VirtualBox",
        "Xen",
        "Amazon EC2",
        "Google Compute Engine",
        "Microsoft Corporation Virtual Machine",
        "Parallels",
    ];
    NAMES.iter().any(|name| product.contains(name)) && !product.contains(".metal")
}

/// The signature in the leaf that is kept for hypervisors.
#[cfg(target_arch = "x86_64")]
fn cpuid() -> Option<String> {
    // SAFETY: every x86-64 processor has the instruction. (Later toolchains hold the call for safe.)
    #[allow(unused_unsafe)]
    let leaf = unsafe { std::arch::x86_64::__cpuid(0x4000_0000) };
    let signature: Vec<u8> = [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    signature_name(&signature)
}

#[cfg(not(target_arch = "x86_64"))]
fn cpuid() -> Option<String> {
    None
}

#[cfg_attr(not(target_arch = "x86_64"), allow(dead_code))]
fn signature_name(signature: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(signature);
    let text = text.trim_end_matches('\0').trim();
    let name = match text {
        "" => return None,
        "KVMKVMKVM" => "KVM",
        "Microsoft Hv" => "Hyper-V",
        "VMwareVMware" => "VMware",
        "XenVMMXenVMM" => "Xen",
        "TCGTCGTCGTCG" => "QEMU without KVM",
        "VBoxVBoxVBox" => "VirtualBox",
        "bhyve bhyve" => "bhyve",
        "prl hyperv" | "lrpepyh vr" => "Parallels",
        other => other,
    };
    Some(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::super::testing;
    use super::*;

    #[test]
    fn bare_metal_with_firmware_has_none() {
        let (root, tree) = testing::empty();
        testing::write(root.path(), "sys/class/dmi/id/sys_vendor", "Dell Inc.\n");
        testing::write(root.path(), "sys/class/dmi/id/product_name", "PowerEdge R7525\n");
        assert_eq!(name(&tree, "flags : fpu vme\n"), None);
        testing::write(root.path(), "sys/class/dmi/id/sys_vendor", "Amazon EC2\n");
        testing::write(root.path(), "sys/class/dmi/id/product_name", "c6g.metal\n");
        assert_eq!(name(&tree, ""), None);
    }

    #[test]
    fn what_sys_says_goes_first() {
        let (root, tree) = testing::empty();
        testing::write(root.path(), "sys/hypervisor/type", "xen\n");
        testing::write(root.path(), "sys/class/dmi/id/product_name", "HVM domU\n");
        assert_eq!(name(&tree, "flags : hypervisor").as_deref(), Some("Xen (HVM domU)"));
    }

    #[test]
    fn a_flag_without_a_name() {
        let (_root, tree) = testing::empty();
        assert!(name(&tree, "flags\t: fpu hypervisor lahf_lm").is_some());
        assert_eq!(name(&tree, "flags\t: fpu hypervisors"), None);
    }

    #[test]
    fn signatures() {
        assert_eq!(signature_name(b"KVMKVMKVM\0\0\0").as_deref(), Some("KVM"));
        assert_eq!(signature_name(b"SomebodyElse").as_deref(), Some("SomebodyElse"));
        assert_eq!(signature_name(&[0; 12]), None);
    }
}
